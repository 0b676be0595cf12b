"""One HTML page that needs nothing beside it: styles inside, pictures embedded."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from pathlib import Path

from .paper_tables import Grid

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; }
th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e5e5e5; }
th:first-child, td:first-child { text-align: left; } th { border-bottom: 2px solid #999; }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem; } .pictures img { flex: 1 1 26rem;
       min-width: 0; max-width: 100%; }
.held { color: #00704a; font-weight: 600; } .broken { color: #b00020; font-weight: 600; }
details { margin: .5rem 0; overflow-x: auto; } code { background: #f4f4f4; padding: 0 .2rem; }
"""
_TYPES = {".png": "image/png", ".svg": "image/svg+xml"}


def page(title: str, parts: Iterable[str]) -> str:
    """Return a whole page of parts that are HTML already."""
    body = "\n".join(parts)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<h1>{escape(title)}</h1>\n{body}\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Return a section's heading."""
    return f"<h2>{escape(text)}</h2>"


def paragraph(text: str, kind: str = "") -> str:
    """Return a paragraph of plain text; `kind` is a class of the page's style."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def table(grid: Grid) -> str:
    """Return a table."""
    head = "".join(f"<th>{escape(text)}</th>" for text in grid.heads)
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in grid.rows
    )
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def folded(summary: str, inner: str) -> str:
    """Return some HTML that opens on a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{inner}\n</details>"


def bullets(lines: Iterable[str]) -> str:
    """Return a list of plain texts."""
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def pictures(paths: Iterable[Path]) -> str:
    """Return pictures side by side, their files embedded."""
    images = "".join(
        f'<img alt="{escape(path.stem)}" src="data:{_TYPES[path.suffix]};base64,'
        f'{base64.b64encode(path.read_bytes()).decode()}">'
        for path in paths
    )
    return f'<div class="pictures">{images}</div>'

"""Pictures: refused before any work where they could not be saved, saved in the form asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from instances import InputError
from instances.pictures import check_picture, new_figure, own_axes, save_picture


@pytest.mark.parametrize(("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml")])
def test_the_suffix_names_the_form(name: str, start: bytes, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "new" / name
    check_picture(path)
    figure = new_figure(2, 1)
    assert own_axes(figure.subplots()).figure is figure
    save_picture(figure, path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize(("name", "found"), [("a.gif", "not in '.gif'"), ("a", "has no suffix")])
def test_another_suffix_is_one_line(name: str, found: str) -> None:
    with pytest.raises(InputError, match=r"ends in \.png, \.svg, \.pdf, ") as caught:
        check_picture(Path(name))
    assert found in str(caught.value)


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instances.pictures.has_matplotlib", lambda: False)
    for draw in (lambda: check_picture(Path("a.png")), lambda: own_axes(None)):
        with pytest.raises(InputError, match="pip install"):
            draw()


def test_a_path_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "a.png").mkdir()
    with pytest.raises(InputError, match=r"a\.png: cannot be written"):
        save_picture(new_figure(1, 1), tmp_path / "a.png")

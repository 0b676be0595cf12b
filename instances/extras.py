"""What to install for the parts of the toolkit that need more than it depends on."""

from __future__ import annotations

#: Packages of each extra, by the extra's name in ``pyproject.toml``.
EXTRAS = {
    "plot": ("matplotlib", "pandas"),
    "parquet": ("pandas", "pyarrow"),
    "dask": ("distributed",),
    "measure": ("torch",),
}


def needs(what: str, extra: str) -> str:
    """Return one line on what an extra is missing for, and how to install it.

    Parameters
    ----------
    what : str
        The part, such as ``"pictures need matplotlib"``.
    extra : str
        A key of `EXTRAS`.
    """
    packages = " ".join(EXTRAS[extra])
    return f"{what}: pip install {packages} (in a clone: pip install -e '.[{extra}]')"

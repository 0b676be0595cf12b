"""JSON Schemas of the toolkit's files, generated from the classes that read them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from .model import Instance
from .schedule import Result, Schedule

#: The kinds of files, by the name that a schema is asked for.
DOCUMENTS: dict[str, type[BaseModel]] = {
    "instance": Instance,
    "schedule": Schedule,
    "result": Result,
}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(document: str) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of one kind of file.

    It is looser than the reader where JSON Schema cannot say it: grids ascend within [0, 1], ids
    are unique, `kv_heads` divides `num_heads`, a schedule names nobody twice.

    Parameters
    ----------
    document : str
        A key of `DOCUMENTS`.

    Raises
    ------
    KeyError
        If there is no such kind.
    """
    return {"$schema": DIALECT} | DOCUMENTS[document].model_json_schema(by_alias=True)

"""Instance and schedule files: JSON in, one clear line when something is wrong, JSON out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .model import Instance
from .schedule import Schedule

Document = TypeVar("Document", bound=BaseModel)


class InputError(ValueError):
    """Bad input, told in one line that names the place and what to do."""


def load(path: str | Path) -> Instance:
    """Return the instance in a JSON file.

    Raises
    ------
    InputError
        In one line: the file, the user and field, what is wrong.
    """
    return _load(Path(path), Instance)


def load_schedule(path: str | Path) -> Schedule:
    """Return the schedule in a JSON file.

    A result as ``formulations.solve --json`` prints it is accepted too: its schedule is read.

    Raises
    ------
    InputError
        In one line: the file, the field, what is wrong.
    """
    path = Path(path)
    document = read_json(path)
    if isinstance(document.get("schedule"), dict):
        document = document["schedule"]
    return _validate(path, document, Schedule)


def loads(text: str, name: str = "instance") -> Instance:
    """Return the instance in a JSON text; `name` stands for the file in error lines."""
    return _validate(Path(name), _decode(text, Path(name)), Instance)


def dumps(document: Instance | Schedule) -> str:
    """Return a document as indented JSON with a closing newline; `loads` gives it back."""
    data = document.model_dump(mode="json", by_alias=True)
    if isinstance(document, Instance):  # absent options stay absent; a schedule's lambda is null
        data = _without_none(data)
    return json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def save(document: Instance | Schedule, path: str | Path) -> None:
    """Write an instance or a schedule to a JSON file."""
    Path(path).write_text(dumps(document), encoding="utf-8")


def _without_none(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [_without_none(value) for value in data]
    return data


def _load(path: Path, kind: type[Document]) -> Document:
    return _validate(path, read_json(path), kind)


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file: no key twice, every number finite.

    Raises
    ------
    InputError
        In one line: the file, the place, what is wrong.
    """
    return _decode(read_text(path), path)


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text, without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be read, is no text or is empty.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; name a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not text.strip():
        raise InputError(f"{path}: is empty")
    return text


def _decode(text: str, path: Path) -> dict[str, Any]:
    if not text.strip():
        raise InputError(f"{path}: is empty; expected a JSON object")
    try:
        document = json.loads(text, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: expected a JSON object, found {type(document).__name__}")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"key {key!r} occurs twice in one object")
        result[key] = value
    return result


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number; every number must be finite")


def _validate(path: Path, document: dict[str, Any], kind: type[Document]) -> Document:
    if "schema" not in document:
        raise InputError(f"{path}: schema: is missing")
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error, document)}") from None


def describe(error: ValidationError, document: Any = None) -> str:
    """Return the first fault of a validation error in one line, the bad user by name."""
    fault = error.errors()[0]
    place = ".".join(str(part) for part in fault["loc"])
    if len(fault["loc"]) >= 2 and fault["loc"][0] == "users":
        position = fault["loc"][1]
        try:
            name = f"user {document['users'][position]['id']!r}"
        except (LookupError, TypeError):
            name = f"users[{position}]"
        place = ": ".join([name, *(str(part) for part in fault["loc"][2:])])
    messages = {"missing": "is missing", "extra_forbidden": "is not a known field"}
    message = messages.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    more = len(error.errors()) - 1
    shown = (
        "" if fault["type"] in (*messages, "value_error") else f" (found {_short(fault['input'])})"
    )
    rest = f"; and {more} more" if more else ""
    return f"{place}: {message}{shown}{rest}" if place else f"{message}{shown}{rest}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer too long to print
        return "a huge integer"
    return text if len(text) <= 40 else text[:37] + "..."

"""Instance and schedule files: JSON in, one clear line when something is wrong, JSON out."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from .model import Instance
from .schedule import Schedule
from .values import worth

Document = TypeVar("Document", bound=BaseModel)
#: Keys and positions from the top of a document down.
Place = tuple[str | int, ...]
#: Resolved paths that were read while a command ran; None where none runs.
inputs: set[Path] | None = None


class InputError(ValueError):
    """Bad input, told in one line that names the place and what to do."""


def load(path: str | Path) -> Instance:
    """Return the instance in a JSON file.

    Raises
    ------
    InputError
        In one line: the file, the user and field, what is wrong.
    """
    path = Path(path)
    document = read_json(path)
    for key, what in (("objective", "result"), ("ad", "schedule")):
        if key in document and "users" not in document:
            raise InputError(f"{path}: this looks like a {what}, not an instance")
    return _validate(path, document, Instance)


def load_schedule(path: str | Path, instance: Instance | None = None) -> Schedule:
    """Return the schedule in a JSON file.

    A result as ``formulations.solve --json`` prints it is accepted too: its schedule is read, and
    what it claims to serve must be what the schedule serves.

    Parameters
    ----------
    path : str or Path
    instance : Instance, optional
        What the schedule is for: users count by its values. Left out, each counts 1.

    Raises
    ------
    InputError
        In one line: the file, the field, what is wrong.
    """
    path = Path(path)
    document = read_json(path)
    if not isinstance(document.get("schedule"), dict):
        return _validate(path, document, Schedule)
    schedule = _validate(path, document["schedule"], Schedule)
    try:
        served = schedule.served if instance is None else worth(instance, schedule)
    except ValueError as error:
        raise InputError(f"{path}: schedule: {error}") from None
    objective, bound = document.get("objective"), document.get("bound")
    if objective is not None and objective != served:
        raise InputError(
            f"{path}: objective: claims {_short(objective)}, its schedule serves {served}"
        )
    if isinstance(bound, int) and bound < served:
        raise InputError(f"{path}: bound: {bound} lies below the {served} users served")
    return schedule


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


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file: no key twice, every number finite.

    Raises
    ------
    InputError
        In one line: the file, the place, what is wrong.
    """
    return _decode(read_text(path), path)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make the folder of a path that is written inside the block.

    Raises
    ------
    InputError
        If the path cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from None


def read_text(path: Path, may_be_empty: bool = False) -> str:
    """Return a UTF-8 file's text, without a byte-order mark.

    Raises
    ------
    InputError
        If it cannot be read, is no text, or is empty and may not be.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; name a file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # a NUL in a path is a ValueError
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if not may_be_empty and not text.strip():
        raise InputError(f"{path}: is empty")
    if inputs is not None:
        inputs.add(path.resolve())
    return text


@contextmanager
def noting_inputs() -> Iterator[None]:
    """Note which files are read inside the block, for `refuse_input`."""
    global inputs
    inputs = set()
    try:
        yield
    finally:
        inputs = None


def refuse_input(path: Path, others: Collection[Path] | None = None) -> None:
    """Refuse to write a file that the running command has read, or is to read.

    Parameters
    ----------
    path : Path
    others : collection of Path, optional
        Resolved paths; those that were read, if left out.

    Raises
    ------
    InputError
        If it is one of them.
    """
    if path.is_file() and path.resolve() in ((inputs or ()) if others is None else others):
        raise InputError(f"{path}: is an input of this command; name another file to write")


class _Fault:
    """Stands in a parsed document where a value cannot be used; tells why."""

    def __init__(self, message: str) -> None:
        self.message = message


def _decode(text: str, path: Path) -> dict[str, Any]:
    if not text.strip():
        raise InputError(f"{path}: is empty; expected a JSON object")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=lambda name: _Fault(f"must be finite (found {name})"),
            parse_float=_finite,
            parse_int=_printable,
        )
        fault = next(_faults(document, ()), None)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: line {error.lineno}, column {error.colno}: not JSON ({error.msg})"
        ) from None
    except RecursionError:
        raise InputError(f"{path}: is nested too deeply") from None
    if fault:
        place, message = fault
        raise InputError(f"{path}: {_line(place, message, document)}")
    if not isinstance(document, dict):
        raise InputError(f"{path}: must be a JSON object, not {_short(document)}")
    return document


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        result[key] = _Fault("occurs twice in one object") if key in result else value
    return result


def _finite(text: str) -> float | _Fault:
    value = float(text)
    if value == 0 and any(digit in "123456789" for digit in text.lower().partition("e")[0]):
        return _Fault(f"is too small for a double (found {text[:40]})")
    return value if math.isfinite(value) else _Fault(f"must be finite (found {text[:40]})")


def _printable(text: str) -> int | _Fault:
    """Return an integer, unless it is beyond every float (Python refuses to print the longest)."""
    return int(text) if len(text) <= 300 else _Fault(f"is too large ({len(text)} digits)")


def _faults(value: Any, place: Place) -> Iterator[tuple[Place, str]]:
    if isinstance(value, _Fault):
        yield place, value.message
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _faults(inner, (*place, key))
    elif isinstance(value, list):
        for position, inner in enumerate(value):
            yield from _faults(inner, (*place, position))


def _validate(path: Path, document: dict[str, Any], kind: type[Document]) -> Document:
    if "schema" not in document:
        raise InputError(f"{path}: schema: is missing")
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{path}: {describe(error, document)}") from None


#: pydantic's types of fault, in the words of a JSON file.
_MESSAGES = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be greater than {gt}",
    "less_than_equal": "must be at most {le}",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be finite",
    "string_type": "must be a string",
    "string_unicode": "must be Unicode text",
    "string_too_short": "must not be empty",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "too_short": "must not be empty",
    "literal_error": "must be {expected}",
}
_WITHOUT_VALUE = ("missing", "extra_forbidden", "value_error")


def describe(error: ValidationError, document: Any = None) -> str:
    """Return the first fault of a validation error in one line, the bad user by name."""
    fault, *others = error.errors()
    message = _MESSAGES.get(fault["type"], fault["msg"].removeprefix("Value error, "))
    message = message.format(**fault.get("ctx", {})) if fault["type"] in _MESSAGES else message
    if fault["type"] not in _WITHOUT_VALUE:
        message += f" (found {_short(fault['input'])})"
    if others:
        message += f"; and {len(others)} more"
    return _line(fault["loc"], message, document)


def _line(place: Place, message: str, document: Any) -> str:
    """Return "place: message", a user named by its id."""
    where = ".".join(_key(part) for part in place)
    if len(place) >= 2 and place[0] == "users" and isinstance(place[1], int):
        where = ": ".join([_user(document, place[1]), *(_key(part) for part in place[2:])])
    return f"{where}: {message}" if where else message


def _key(part: str | int) -> str:
    """Return a key or position, as JSON shows it if it would garble a line or a terminal."""
    text = str(part)
    return text if text and text.isprintable() and len(text) <= 40 else _short(part)


def _user(document: Any, position: int) -> str:
    try:
        name = document["users"][position]["id"]
    except (LookupError, TypeError):
        name = None
    return f"user {name!r}" if isinstance(name, str) and name else f"users[{position}]"


def _short(value: Any) -> str:
    """Return a value as JSON shows it, cut to a few words."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):  # no JSON, or an integer too long to print
        text = type(value).__name__
    return text if len(text) <= 40 else text[:37] + "..."

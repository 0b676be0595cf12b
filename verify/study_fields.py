"""One instance of a study: drawn or read, then any of its fields changed by name.

=========================================  =================================================
``family``, ``users``, ``seed``            what is drawn, and K
``trace``                                  request lengths to draw from (family ``trace``)
``llm``, ``slm``, ``gpu``, ...             what `instances.generate` takes by name
``deadline_s``, ``deadline_s.min``/``.max``  a range that the family draws from, or one end of it;
                                           so ``input_tokens``, ``output_tokens``,
                                           ``acceptance_rate``
``radio.radius_m``, ...                    the cell's parameters (`instances.wireless.Radio`)
``z_grid``, ``lambda_grid``                a list, or how many values at equal distances
``hardware.memory_bytes``, ``slm.layers``  any other field of the instance
``users.deadline_s``, ...                  a field of every user
``hardware.memory_bytes.scale``, ...       the same, as a factor on what was there
=========================================  =================================================

Changes of fields come last, whatever the family made of them; on files they are all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, cast

from pydantic import ValidationError

from instances import InputError, Instance, User, generate, load
from instances.files import describe
from instances.generators import RANGES, Overrides
from instances.model import GRID_DECIMALS
from instances.randomness import rounded
from instances.wireless import Radio

#: What names the source and its size; everything else changes the instance.
SOURCE = ("family", "users", "seed", "file")
GRIDS = ("z_grid", "lambda_grid")
#: What the generator takes on trust.
TYPES = {
    "family": str,
    "users": int,
    "trace": str,
    "llm": str,
    "slm": str,
    "gpu": str,
    "true_kv_heads": bool,
}
_KINDS = {str: "a string", int: "a whole number", bool: "true or false"}
#: Ends of a name that make a factor of its value.
SCALE = ".scale"
ENDS = {"min": 0, "max": 1}

Settings = Mapping[str, Any]


def build(settings: Settings) -> Instance:
    """Return the instance that some settings make.

    Parameters
    ----------
    settings : mapping of str to JSON data
        ``file`` or ``family``, and names as in this module's table.

    Raises
    ------
    InputError
        In one line: the setting that is unknown or out of range.
    """
    own = {name: value for name, value in settings.items() if name not in SOURCE}
    own |= {name: evenly(name, own[name]) for name in GRIDS if isinstance(own.get(name), int)}
    if "file" in settings:
        return changed(load(settings["file"]), own)
    _check_types(settings)
    family, number = settings["family"], settings.get("users")
    if "trace" in own and family != "trace":
        raise InputError(f"trace: is for the family trace, not for {family}")
    drawn = {name: value for name, value in own.items() if _is_drawn(name)}
    instance = generate(family, number, settings.get("seed", 0), **_overrides(drawn))
    return changed(instance, {name: own[name] for name in own if name not in drawn})


def _check_types(settings: Settings) -> None:
    for name in TYPES.keys() & settings.keys():
        kind, value = TYPES[name], settings[name]
        if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool):
            raise InputError(f"{name}: must be {_KINDS[kind]} (found {value!r})")


def evenly(name: str, count: int) -> list[float]:
    """Return that many shares from 0 to 1 at equal distances, to a grid's decimals."""
    if count < 2:
        raise InputError(f"{name}: takes a list, or at least 2 values (found {count})")
    return [round(step / (count - 1), GRID_DECIMALS) for step in range(count)]


def flat(table: Settings, above: str = "") -> dict[str, Any]:
    """Return a table with the names of its inner tables joined by dots."""
    result: dict[str, Any] = {}
    for name, value in table.items():
        here = f"{above}{name}"
        result |= flat(value, f"{here}.") if isinstance(value, dict) else {here: value}
    return result


def changed(instance: Instance, changes: Settings) -> Instance:
    """Return the instance with some fields replaced or scaled, validated again.

    Raises
    ------
    InputError
        If there is no such field, or a value does not suit it.
    """
    if not changes:
        return instance
    data = instance.model_dump(by_alias=True)
    for name, value in changes.items():
        for record, key in _places(data, name.removesuffix(SCALE), name):
            scaled = name.endswith(SCALE)
            record[key] = _scaled(record[key], value, name) if scaled else value
    try:
        return Instance.model_validate(data)
    except ValidationError as error:
        raise InputError(describe(error, data)) from None


def _places(data: dict[str, Any], path: str, name: str) -> Iterable[tuple[dict[str, Any], str]]:
    """Return the records and key that a path means: one, or one for each user."""
    *above, key = path.split(".")
    if above == ["users"] and key in User.model_fields and key != "id":
        return [(user, key) for user in data["users"]]
    record: Any = data
    for part in above:
        record = record.get(part) if isinstance(record, dict) else None
    if not isinstance(record, dict) or key not in record or path in ("users", "schema"):
        told = f"{name}: is neither a field of an instance nor a parameter of its source"
        inner = [above for above, part in data.items() if isinstance(part, dict) and path in part]
        inner += ["users"] if path in User.model_fields else []
        tried = " or ".join(f"{above}.{name}" for above in inner)
        raise InputError(f"{told}; try {tried}" if inner else told)
    return [(record, key)]


def _scaled(value: Any, factor: Any, name: str) -> Any:
    for number in (value, factor):
        if not isinstance(number, (int, float)) or isinstance(number, bool):
            raise InputError(f"{name}: only numbers can be scaled (found {number!r})")
    if factor <= 0:
        raise InputError(f"{name}: must be greater than 0 (found {factor})")
    if isinstance(value, int):
        return max(1, round(value * factor)) if value else 0
    return rounded(value * factor, 12)


def _is_drawn(name: str) -> bool:
    """Return whether a setting is the generator's business, rather than a change afterwards."""
    above, _, key = name.partition(".")
    is_end = above in RANGES and key in ENDS
    return name in Overrides.__annotations__ or above == "radio" or is_end


def _overrides(settings: Settings) -> Overrides:
    """Return the generator's settings as it takes them: ends of ranges paired, the cell whole."""
    result: dict[str, Any] = {}
    cell: dict[str, Any] = {}
    for name, value in settings.items():
        above, dot, key = name.partition(".")
        if not dot:
            result[name] = value
        elif above == "radio":
            cell[key] = value
        elif above in settings:
            raise InputError(f"{name}: {above} is given too; drop one of them")
        else:
            result[above] = _with_end(result.get(above, (None, None)), ENDS[key], value)
    if cell:
        result["radio"] = _radio(cell)
    return cast(Overrides, result)


def _with_end(ends: tuple[Any, Any], which: int, value: Any) -> tuple[Any, Any]:
    return (value, ends[1]) if which == 0 else (ends[0], value)


def _radio(cell: Settings) -> Radio:
    known = {field.name: field.type for field in fields(Radio)}
    for name, value in cell.items():
        if name not in known:
            raise InputError(f"radio.{name}: is none of {', '.join(known)}")
        if isinstance(value, bool) != (known[name] == "bool") or isinstance(value, str):
            raise InputError(f"radio.{name}: must be a {known[name]} (found {value!r})")
    return Radio(**cell)

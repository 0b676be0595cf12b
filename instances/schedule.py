"""Decisions and answers: `Schedule` (who is served how) and `Result` (what a solver found)."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from .model import Drafts, _tuple

#: Why relaxation and restriction end apart though both are solved: less than a microsecond decides.
ROUNDING = "rounding"

Ids = Annotated[tuple[str, ...], BeforeValidator(_tuple)]
Share = Annotated[float, Field(ge=0, le=1)]
Problem = Literal["P1", "P2", "P3"]


class Schedule(BaseModel):
    """A choice of mode per user and the server's split.

    Parameters
    ----------
    z : float
        Compute share of the AD mode; SD gets 1 - z.
    lam : float or None
        Memory share of the AD mode (``"lambda"`` in files); None where memory is shared (P1).
    ad, sd : tuple of str
        Ids of the users in each mode. Everyone else is not served.
    draft_length : int, optional
        L^D of the SD batch, where the instance leaves a choice; left out, the instance's own.

    Raises
    ------
    pydantic.ValidationError
        If a share lies outside [0, 1] or a user is listed twice. Whether the schedule is
        *feasible* is the judge's business (`verify.check`), not this class's.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, populate_by_name=True
    )

    schema_: Literal["balance-schedule/1"] = Field(default="balance-schedule/1", alias="schema")
    z: Share
    lam: Share | None = Field(default=None, alias="lambda")
    ad: Ids = ()
    sd: Ids = ()
    draft_length: Drafts | None = None

    @model_serializer(mode="wrap")
    def _without_the_papers_length(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave an absent draft length out, so that schedules look as they always did."""
        data: dict[str, Any] = handler(self)
        if self.draft_length is None:
            data.pop("draft_length", None)
        return data

    @model_validator(mode="after")
    def _once_each(self) -> Schedule:
        twice = [name for name, count in Counter(self.ad + self.sd).items() if count > 1]
        if twice:
            raise ValueError(f"user {twice[0]!r} is scheduled more than once")
        return self

    @property
    def served(self) -> int:
        """Users served, |X| + |Y|: the objective of P1, unless users have values of their own."""
        return len(self.ad) + len(self.sd)


class Status(StrEnum):
    """What is known about the answer (why the search stopped is `Result.stopped_by`)."""

    OPTIMAL = "optimal"  # bound equals objective, both certified
    FEASIBLE = "feasible"  # a checked schedule, not proven optimal
    INFEASIBLE = "infeasible"  # proven: no schedule satisfies the request
    NO_INCUMBENT = "no_incumbent"  # stopped before a schedule was found
    VIOLATED = "violated"  # an algorithm's schedule that breaks an inequality (errata, own code)


class Result(BaseModel):
    """What a solver or an algorithm found, and how.

    Parameters
    ----------
    status : Status
        What is known about the answer.
    stopped_by : str or None
        ``"time_limit"``, ``"node_limit"``, ``"interrupt"``, ...; ``"rounding"``: it ran to its end,
        but less than a microsecond decides whether more can be served; else None.
    problem, solver, solver_version, options, seed
        What was asked of whom.
    objective : int or None
        Users served by `schedule`, or what they are worth (`instances.worth`) where they have
        values; None without a schedule.
    bound : int or None
        Proven upper bound on the objective; None where the method proves none.
    runtime_s : float
        Wall time in seconds.
    schedule : Schedule or None
        The best schedule found, rechecked exactly.
    statistics : dict
        Counters of the method, such as ``nodes``, ``build_s``, ``solve_s``, ``certify_s``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    status: Status
    stopped_by: str | None = None
    problem: Problem
    solver: str
    solver_version: str
    options: dict[str, Any] = Field(default_factory=dict)
    seed: int | None = None
    objective: int | None = None
    bound: int | None = None
    runtime_s: float
    schedule: Schedule | None = None
    statistics: dict[str, Any] = Field(default_factory=dict)

    def to_json(self, indent: int | None = None) -> str:
        """Return the result as JSON, the schedule in its file form."""
        return self.model_dump_json(by_alias=True, indent=indent)

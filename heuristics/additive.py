"""The additive algorithm: within three users of P1's optimum (with a fixed λ: four), and the bound.

**Theorem.** At a fixed z, let every maximum of the paper's batches be a given *threshold*: longest
input, longest output, earliest deadline and latest upload of AD; longest input, most accepted
drafts, most iterations, earliest deadline and latest upload of SD. Then a user costs a mode fixed
ticks and bytes, and P1 restricted to schedules within the thresholds is a knapsack problem: for
each user at most one of two options, and three rows (AD time, SD time, memory; with a λ four). A
basic optimum of its linear relaxation (LP) has at most three (four) *split* users, and serving only
those whom one mode serves whole loses at most three (four) users against the relaxation.

*Proof.* Take a basic solution with K' + m basic variables: K' rows ``x_ad + x_sd + slack = 1``, one
for each user, and m others. Each user's row needs a basic variable that is not zero, and a split
user has two at least. So K' + (split users) <= K' + m. Rounding down keeps every row, since all
coefficients are non-negative, and takes less than or exactly one from each split user: what is left
is an integer I >= LP - m, so I >= ⌊LP⌋ - m. □

An optimal schedule meets the LP of its own thresholds and z, so the greatest LP over all thresholds
is an upper bound on r*, and its rounding serves at least r* - m. There are at most |Z| K^9 choices
and an LP is polynomial, so this is a polynomial algorithm.

**Algorithm.** The choices are not enumerated but searched: "can m + 1 users more than the
incumbent's be served?" is asked of boxes of thresholds (`questions`), which bounds refute
long before they are points. What it asks is answered in one of three ways:

- no: then ``r* <= incumbent + m``, which was to be proven;
- a schedule is found on the way;
- a box is a point and not refuted. Its LP is solved: either it refutes the box, or it is at least
  the goal, and its rounding serves ``goal - m``, one user more than the incumbent.

A new incumbent starts the next question, so there are at most K, each of at most polynomially many
boxes: a box is cut between two levels, and a point is never cut. Since the search begins with a
schedule no worse than Algorithm 3's (`balance_plus`), ``r >= max(r*/2, r* - m)``.

Then harder questions follow, "m more", ..., "one more", until `ENOUGH` boxes, or `PATIENCE` times
those of the first question, have been visited: mostly the bound ends 0 or 1 above the schedule.
Here a point that is not refuted is branched on its users, as in the exact search.

**Rounding.** Bounds are those of tables built *down*, and on a relaxed task so are schedules: one
set of tables, on which the theorem holds without exception and is asserted. `heuristics.api` takes
that schedule if it holds in rationals. Otherwise the task is not relaxed: a schedule of the tables
built down is the incumbent if it holds in rationals, else what tables built *up* accept of it,
filled anew. Where that serves fewer users (because less than a microsecond decides), the distance
from objective to bound may be larger by as many.
"""

from __future__ import annotations

from .balance_plus import improved
from .questions import Questions
from .task import Found, Task

#: Boxes after which no harder question is asked: so many, or so many times the guarantee's.
ENOUGH, PATIENCE = 15_000, 2
#: The walk that the search starts from visits so many points a user, but no more users in all.
POINTS, USERS = 300, 30_000_000


def additive(task: Task) -> Found:
    """Return a schedule within three users of the optimum, and the bound that proves it.

    At Ctrl-C the search ends with what it has: the schedule may be further from its bound.

    Parameters
    ----------
    task : Task
        Without a λ the memory is shared (P1) and the gap at most 3; with one it is at most 4. If
        it is not relaxed, that is the distance from the bound to what tables built down serve.

    Raises
    ------
    ValueError
        If memory is to be padded: the guarantee is about the model's memory.
    RuntimeError
        If the guarantee does not hold: the proof, or the code, is wrong.
    """
    task.refuse_padded("additive")
    users = max(1, len(task.instance.users))
    run = Questions(task, improved(task, min(POINTS * users, USERS // users)))
    stopped_by = None
    try:
        _ask(run)
    except KeyboardInterrupt:  # what has been proven stands
        stopped_by = "interrupt"
    return Found(run.best.to_schedule(task.instance), run.statistics, run.bound, stopped_by)


def _ask(run: Questions) -> None:
    run.close(run.gap)
    last, slack = max(ENOUGH, PATIENCE * run.nodes), run.gap - 1
    while slack >= 0 and run.close(slack, last - run.nodes):
        slack -= 1
    run.verify_gap()

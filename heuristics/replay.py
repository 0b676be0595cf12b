"""Play an arrival trace against policies: ``python -m heuristics.replay --trace CSV``.

A command only; what it runs is `heuristics.replays.replay`, by the rules of `heuristics.rounds`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from instances import InputError, Instance, commandline, dumps, generate, load
from instances.commandline import Exit
from instances.generators import Overrides
from instances.model import MOST_TOKENS
from instances.pictures import check_picture
from instances.server_options import DraftLength, Gpu, Llm, Slm
from instances.traces import SYNTHETIC, Trace, read_trace

from . import algorithms, replay_plots, replay_report
from .arrivals import TICKS, Arrival, arrivals
from .replays import Replay, replay, window_ticks
from .rounds import Round, Violation, servable

#: Where the round and the schedule of a policy that broke an inequality go.
FAILURES = Path("balance-failures")


def main(
    trace: Annotated[
        Path,
        typer.Option(
            help="Requests with arrival times; or the shipped synthetic ones.", show_default=False
        ),
    ] = SYNTHETIC,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="A name of heuristics.solve, or MODULE:FUNCTION (repeat it).",
            autocompletion=commandline.completing(algorithms),
        ),
    ] = None,
    speed: Annotated[
        list[float] | None, typer.Option(help="Play the trace this many times as fast (repeat it).")
    ] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Everyone's deadline in seconds, from the arrival.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Draws links and what else is not given.")] = 0,
    first: Annotated[
        int | None, typer.Option(min=1, help="Only the first requests of the trace.")
    ] = None,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Drop longer requests, such as a model's context.")
    ] = MOST_TOKENS,
    server: Annotated[
        Path | None, typer.Option(help="Instance file: its models and hardware, not its users.")
    ] = None,
    llm: Llm = None,
    slm: Slm = None,
    gpu: Gpu = None,
    draft_length: DraftLength = None,
    window: Annotated[
        float | None, typer.Option(help="Seconds of arrivals a point of the report stands for.")
    ] = None,
    as_json: commandline.AsJson = False,
    output: Annotated[Path | None, typer.Option(help="CSV: what became of every user.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Picture (PNG, SVG or PDF) of the hits.")
    ] = None,
) -> Exit:
    """Serve the users of a trace round after round; report who meets the deadline, by policy.

    Whenever the server is free it plans a batch for those who wait, by each
    policy in turn; the rules are in docs/replay.md.

    Exit code 0: played; 1: a policy's schedule broke an inequality; 2: bad input.
    """
    if plot is not None:
        check_picture(plot)
    read = read_trace(trace, max_tokens)
    requests = read.requests[:first]
    template = _server(server, llm=llm, slm=slm, gpu=gpu, draft_length=draft_length)
    played: list[Replay] = []
    for times in speed or [1.0]:
        coming = arrivals(requests, seed, times, deadline)
        window_ticks(coming, window)  # refused before anything is played
        for name in policy or ["balance", "ad-only", "sd-only"]:
            try:
                played.append(_play(template, coming, name, times))
            except Violation as violation:
                return _violated(name, violation)
    alone = sum(bool(servable(template, [arrival], arrival.tick)) for arrival in coming)
    _show(played, read, alone, window, as_json)
    if output is not None:
        commandline.write(output, replay_report.to_csv(played))
    if plot is not None:
        replay_plots.save(played, plot, window)
    return Exit.HELD


def _server(path: Path | None, **parts: Any) -> Instance:
    """Return an instance without users: a file's server, or the paper's with parts replaced."""
    given = {name: value for name, value in parts.items() if value is not None}
    if path is None:
        return generate("trace", 0, **Overrides(**given))  # type: ignore[typeddict-item]
    if given:
        option = next(iter(given)).replace("_", "-")
        raise InputError(f"--server has its own models and hardware; drop --{option}")
    return load(path).model_copy(update={"users": ()})


def _play(server: Instance, coming: tuple[Arrival, ...], policy: str, speed: float) -> Replay:
    watch = partial(_bar, label=f"{policy}, speed {speed:g}", last=coming[-1].tick)
    try:
        return replay(server, coming, policy, speed, watch)
    except ValueError as error:
        raise InputError(str(error)) from None


def _bar(played: Iterable[Round], label: str, last: int) -> Iterator[Round]:
    """Pass the rounds on while a bar on stderr shows how far the trace has been played."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield from played
        return
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(label, total=last)
        for part in played:
            bar.update(task, completed=min(part.end, last))
            yield part


def _violated(policy: str, violation: Violation) -> Exit:
    """Save the round and its schedule, and say how to see what is wrong."""
    files = FAILURES / "replay-instance.json", FAILURES / "replay-schedule.json"
    commandline.write(files[0], dumps(violation.instance))
    commandline.write(files[1], dumps(violation.schedule))
    print(f"FAIL: {policy}: {violation}")
    print(f"  python -m verify.check {files[0]} {files[1]}")
    return Exit.VIOLATION


def _show(
    played: list[Replay], trace: Trace, alone: int, window: float | None, as_json: bool
) -> None:
    if as_json:
        data = {
            "schema": "balance-replay/1",
            "trace": trace.report(),
            "servable_alone": alone,
            "replays": [one.to_dict(window) for one in played],
        }
        print(json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False))
        return
    console = commandline.console()
    console.print(replay_report.table([one.summary() for one in played]), "")
    console.print(trace.report(), markup=False, soft_wrap=True)
    count, span = len(played[0].arrivals), played[0].span / TICKS
    console.print(
        f"{alone} of {count} users could be served alone at their arrival; "
        f"{span:.0f} s played at speed {played[0].speed:g}",
        markup=False,
        soft_wrap=True,
    )


COMMAND = commandline.Command(main, "heuristics.replay", "--speed 1 2 --plot hits.png")

if __name__ == "__main__":
    COMMAND.run()

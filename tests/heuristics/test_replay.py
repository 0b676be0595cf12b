"""The rolling horizon: its rules on hand-made arrivals, every round judged, the command."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from formulations.policy import optimal
from heuristics.arrivals import TICKS, Arrival, arrivals
from heuristics.replay import COMMAND
from heuristics.replay_plots import plot_hits, plot_load
from heuristics.replays import Replay, replay
from heuristics.rounds import Policy, Violation, rounds
from instances import (
    InputError,
    Instance,
    Schedule,
    generate,
    load,
    load_schedule,
    save,
)
from instances.exact import ad_latency, sd_latency
from instances.numbers import exact
from instances.traces import SYNTHETIC, Request, read_trace
from tests.helpers import make_instance, make_user
from verify import check

ROOT = Path(__file__).resolve().parents[2]
#: Unit models, one second per decoded token, computing free: an AD batch takes L2 seconds.
SERVER = make_instance(alpha_llm=0.0, alpha_slm=0.0, beta_llm=1.0, beta_slm=1.0)


def asking(name: str, at_s: float, deadline_s: float, **fields: object) -> Arrival:
    fast = {"output_tokens": 2, "uplink_bps_per_hz": 1e12, "downlink_bps_per_hz": 1e12} | fields
    return Arrival(make_user(name, deadline_s=deadline_s, **fast), round(at_s * TICKS))


def everyone(instance: Instance) -> Schedule:
    return Schedule(z=1.0, ad=tuple(user.id for user in instance.users))


def nobody(instance: Instance) -> Schedule:
    return Schedule(z=1.0)


def test_rounds_follow_each_other() -> None:
    """The second waits for the first's batch, the third for its own arrival."""
    coming = [asking("a", 0, 5), asking("b", 1, 5), asking("c", 60, 5)]
    first, second, third = rounds(SERVER, coming, everyone)
    assert [part.served for part in (first, second, third)] == [{"a"}, {"b"}, {"c"}]
    upload = Fraction(2, 10**12)
    assert first.ad_s == 2 + upload
    assert first.end == second.start == 2 * TICKS + 1  # the upload's 2 ps cost a tick
    assert second.instance.users[0].deadline_s == 3.999999  # 1 + 5 - 2.000001
    assert third.start == 60 * TICKS


def test_who_cannot_be_served_any_more_is_lost() -> None:
    """Two seconds are needed from 2.000001 s on: 4.000002 s is the first deadline in time."""
    late, just = asking("late", 1, 3.000001), asking("just", 1, 3.000002)
    parts = list(rounds(SERVER, [asking("a", 0, 5), late, just], everyone))
    assert [user.id for user in parts[1].instance.users] == ["just"]


def test_a_policy_that_chooses_nobody_is_asked_at_each_arrival() -> None:
    asked = []

    def wait(instance: Instance) -> Schedule:
        asked.append([user.id for user in instance.users])
        return nobody(instance)

    coming = [asking("a", 0, 50), asking("b", 1, 50), asking("c", 3, 50)]
    assert list(rounds(SERVER, coming, wait)) == []
    assert asked == [["a"], ["a", "b"], ["a", "b", "c"]]


def test_both_batches_run_side_by_side() -> None:
    """AD takes 2 s and SD 3 s; the round ends with the longer one."""

    def both(instance: Instance) -> Schedule:
        return Schedule(z=0.5, ad=("a",), sd=("b",))

    coming = [asking("a", 0, 9), asking("b", 0, 9, output_tokens=1)]
    (part,) = rounds(SERVER, coming, both)
    users = part.instance.users
    assert part.ad_s == ad_latency(part.instance, users[:1], 0.5)
    assert part.sd_s == sd_latency(part.instance, users[1:], 0.5)
    assert part.end == 3 * TICKS + 1
    numbers = Replay("both", 1, tuple(coming), (part,)).summary()
    assert (numbers.hits, numbers.ad, numbers.sd, numbers.rate) == (2, 1, 1, 1.0)
    assert numbers.busy == 1
    assert numbers.utilisation == pytest.approx((2 + 3) / 2 / 3, abs=1e-5)


def test_an_infeasible_schedule_is_refused() -> None:
    coming = [asking("short", 0, 3), asking("long", 0, 9, output_tokens=4)]
    with pytest.raises(Violation, match=r"planned at 0 s breaks an inequality") as caught:
        list(rounds(SERVER, coming, everyone))
    assert not check(caught.value.instance, caught.value.schedule).feasible


def shipped(count: int = 60, speed: float = 5) -> tuple[Arrival, ...]:
    return arrivals(read_trace(SYNTHETIC).requests[:count], speed=speed)


@pytest.mark.parametrize("policy", ["balance", "ad-only", "sd-only", optimal])
def test_every_round_passes_the_judge(policy: str | Policy) -> None:
    coming = shipped()
    played = replay(generate("trace", 0), coming, policy)
    assert len(played.rounds) > 5
    by_id = {arrival.user.id: arrival for arrival in coming}
    free, served = 0, set()
    for part in played.rounds:
        assert check(part.instance, part.schedule).feasible
        assert part.start >= free
        free = part.end
        assert not served & part.served
        served |= part.served
        for user in part.instance.users:
            arrival = by_id[user.id]
            assert arrival.tick <= part.start
            due = Fraction(arrival.tick, TICKS) + exact(arrival.user.deadline_s)
            gone = due - Fraction(part.start, TICKS) - exact(user.deadline_s)
            assert gone == due % Fraction(1, TICKS) < Fraction(1, TICKS)
    windows = played.windows(5)
    assert sum(window.hits for window in windows) == played.summary().hits == len(served)
    assert sum(window.users for window in windows) == len(coming)


def test_speed_moves_the_arrivals_alone() -> None:
    requests = [Request(5, 6, 4.0), Request(1, 2, 1.0), Request(9, 9, None)]
    slow, fast = arrivals(requests), arrivals(requests, speed=3)
    assert [a.tick for a in slow] == [0, 3 * TICKS]
    assert [a.tick for a in fast] == [0, TICKS]
    assert [a.user for a in slow] == [a.user for a in fast]
    assert [a.user.input_tokens for a in slow] == [1, 5]


def test_deadlines_may_be_the_trace_s_or_everyone_s(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(
        "input_tokens,output_tokens,arrival_s,deadline_s\n3,4,0,2.5\n3,4,1,-1\n3,4,2,\n"
    )
    trace = read_trace(path)
    assert trace.dropped == {"unreadable": 1}
    own, drawn = (a.user.deadline_s for a in arrivals(trace.requests))
    assert (own, drawn > 0.5) == (2.5, True)
    assert [a.user.deadline_s for a in arrivals(trace.requests, deadline_s=7)] == [7, 7]


@pytest.mark.parametrize(
    ("requests", "options", "message"),
    [
        ([Request(1, 1, None)], {}, "no arrival times"),
        ([Request(1, 1, 0.0)], {"speed": 0.0}, "speed must be a positive number"),
        ([Request(1, 1, 0.0)], {"deadline_s": float("nan")}, "deadline must be"),
        ([Request(1, 1, 0.0), Request(1, 1, 2e9)], {}, "31 years"),
    ],
)
def test_bad_arrivals_are_refused(requests: list[Request], options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        arrivals(requests, **options)


def test_pictures_show_each_policy() -> None:
    server, coming = generate("trace", 0), shipped(20)
    played = [replay(server, coming, name, 8) for name in ("ad-only", "sd-only")]
    axes = plot_hits(played, window_s=2)
    assert [line.get_label().split(":")[0] for line in axes.get_lines()] == ["ad-only", "sd-only"]
    heights = [list(line.get_ydata()) for line in plot_load(played).get_lines()]
    assert heights == [[100 * one.summary().rate] for one in played]


Shown = tuple[int, str, str]


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Shown]:
    """Run the command in this process; return its exit code, stdout and stderr."""

    def run(*arguments: str | Path) -> Shown:
        monkeypatch.setattr(sys, "argv", ["heuristics.replay", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            COMMAND.run()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def test_the_command_reports_in_every_form(run: Callable[..., Shown], tmp_path: Path) -> None:
    files = tmp_path / "users.csv", tmp_path / "hits.svg"
    names = ["ad-only", "formulations.policy:optimal"]
    asked = ["--first", "15", "--speed", "1", "--speed", "9"]
    asked += [part for name in names for part in ("--policy", name)]
    code, out, _ = run(*asked, "--output", files[0], "--plot", files[1], "--json")
    assert code == 0
    replays = json.loads(out)["replays"]
    played = [(one["speed"], one["policy"]) for one in replays]
    assert played == [(speed, name) for speed in (1, 9) for name in names]
    rows = list(csv.DictReader(files[0].read_text().splitlines()))
    assert len(rows) == 60
    assert sum(row["hit"] == "1" for row in rows) == sum(one["hits"] for one in replays)
    assert all((row["hit"] == "1") == (row["mode"] in ("AD", "SD")) for row in rows)
    assert files[1].read_text().startswith("<?xml")


def test_the_table_has_a_row_for_each_policy(run: Callable[..., Shown]) -> None:
    code, out, _ = run("--first", "5")
    assert code == 0
    names = [line.split()[1] for line in out.splitlines() if line.strip().startswith("1 ")]
    assert names == ["balance", "ad-only", "sd-only"]
    assert "5 of 5 users could be served alone" in out


def test_a_server_of_one_s_own(run: Callable[..., Shown], tmp_path: Path) -> None:
    """Without memory for the weights nobody can be served, and that is said."""
    full = generate("trace", 3)
    none = full.hardware.model_copy(update={"memory_bytes": 10})
    save(full.model_copy(update={"hardware": none}), tmp_path / "server.json")
    server = "--server", tmp_path / "server.json"
    code, out, _ = run("--first", "5", "--policy", "balance", *server)
    assert (code, "0 of 5 users could be served alone" in out) == (0, True)
    code, _, err = run(*server, "--draft-length", "2")
    assert (code, err.count("\n")) == (2, 1)
    assert "drop --draft-length" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "nonsense"], "unknown algorithm 'nonsense'"),
        (["--trace", "nowhere.csv"], "nowhere.csv: No such file"),
        (["--plot", "hits.gif"], "hits.gif: a picture's name ends in"),
        (["--window", "-1"], "a window must be positive"),
        (["--window", "1e-9"], "a window must be positive, and at least 0.08"),
        (["--speed", "0"], "speed must be a positive number"),
    ],
)
def test_bad_input_is_one_line(
    run: Callable[..., Shown], arguments: list[str], message: str
) -> None:
    code, out, err = run(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert message in err


def test_a_policy_that_breaks_an_inequality_leaves_its_round_behind(
    run: Callable[..., Shown], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = run("--speed", "50", "--policy", f"{__name__}:everyone")
    assert code == 1
    assert "the schedule planned at " in out.splitlines()[0]
    instance, schedule = (tmp_path / name for name in out.splitlines()[1].split()[3:])
    assert not check(load(instance), load_schedule(schedule)).feasible


def test_python_m_runs_it() -> None:
    command = [sys.executable, "-W", "error", "-m", "heuristics.replay", "--trace", "nowhere.csv"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: nowhere.csv: No such file or directory\n"


@pytest.mark.slow
def test_azure_at_several_speeds(shared_data: Path) -> None:
    """AD alone hits least, at every load, and no policy hits more when more ask."""
    trace = read_trace(shared_data / "traces" / "azure2023_conv_sample2000_seed0.csv")
    server = generate("trace", 0)
    rates: dict[str, list[float]] = {}
    for speed in (1, 2, 4):
        coming = arrivals(trace.requests, speed=speed)
        for name in ("balance", "ad-only", "sd-only"):
            rate = replay(server, coming, name).summary().rate
            assert rate is not None
            rates.setdefault(name, []).append(rate)
    assert all(sorted(row, reverse=True) == row for row in rates.values())
    for ad, *others in zip(rates["ad-only"], rates["balance"], rates["sd-only"], strict=True):
        assert ad < min(others)

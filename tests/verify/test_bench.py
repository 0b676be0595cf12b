"""The benchmark: lines, records, wrong answers, comparisons, summaries and pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from instances import InputError, Result, Schedule, generate, save
from instances.commandline import Exit
from verify import bench_files
from verify.bench_cases import from_files, generated, integers, select
from verify.bench_check import cross_check, faults
from verify.bench_compare import changed_objectives, compare, evidence, protocol_changes
from verify.bench_lines import Line, cross, find, parse
from verify.bench_plots import plot_profile, plot_scaling
from verify.bench_protocol import Protocol, flat
from verify.bench_records import Outcome, Record, outcome_of, read_csv, read_protocol, to_csv
from verify.bench_runs import Probe
from verify.bench_session import Findings, Session
from verify.bench_stats import Time
from verify.bench_summary import profile, scaling, summarise


def record(**changes: object) -> Record:
    """A solved run of line "a" on an instance of ten users, with changes."""
    base = Record(
        family="paper-4a",
        instance="paper-4a-10-1",
        digest="0123456789ab",
        users=10,
        seed=1,
        problem="P1",
        line="a",
        solver_version="1.0",
        time_limit_s=10.0,
        outcome=Outcome.SOLVED,
        status="optimal",
        objective=5,
        bound=5,
        runtime_s=0.25,
    )
    return replace(base, **changes)


# Lines and instances


def test_integers_in_all_spellings() -> None:
    assert integers(["10,20", "1-3", "20"], "--users") == [10, 20, 1, 2, 3]


@pytest.mark.parametrize("word", ["-3", "a", "3-1", "1.5", "1-", "²", "9" * 40])
def test_bad_integers_are_refused(word: str) -> None:
    with pytest.raises(InputError, match="--users"):
        integers([word], "--users")


def test_lines_and_their_crossings() -> None:
    lines = cross(["highs,scip@boxed", "heuristics:balance", "own:f", "pyomo:highs"], ["a,b"])
    assert [str(line) for line in lines] == [
        "highs",
        "scip@boxed",
        "heuristics:balance",
        "own:f",
        "pyomo:highs",
    ]
    assert lines[Line("highs")] == [Line("highs", "a"), Line("highs", "b")]
    assert lines[Line("pyomo:highs")] == [Line("pyomo:highs", "a"), Line("pyomo:highs", "b")]
    assert not any(lines[parse(name)] for name in ("scip@boxed", "heuristics:balance", "own:f"))


@pytest.mark.parametrize("text", ["@a", "highs@", ":f", "own:"])
def test_malformed_lines_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="solver line"):
        parse(text)


def test_reference_by_line_or_by_solver() -> None:
    lines = [Line("threshold"), Line("highs", "compact"), Line("highs", "boxed")]
    assert find(lines, "highs@boxed") == lines[2]
    assert find(lines, "highs") == lines[1]
    assert find(lines, None) == lines[1]
    assert find(lines[:1], None) is None
    with pytest.raises(InputError, match="--reference scip"):
        find(lines, "scip")


def test_same_options_same_instance(tmp_path: Path) -> None:
    (case,) = generated(["ties"], [4], [2])
    assert case.options == "--family ties --users 4 --seeds 2"
    path = tmp_path / "i.json"
    save(case.instance, path)
    (again,) = from_files([path])
    assert again.digest == case.digest
    assert again.options == f"--input {path}"


def test_files_exclude_the_generators_options() -> None:
    with pytest.raises(InputError, match="exclude"):
        select([], ["10"], [], ["i.json"])


# Records


def result(**changes: object) -> Result:
    base = Result(
        status="optimal",
        problem="P1",
        solver="s",
        solver_version="1",
        objective=0,
        bound=0,
        runtime_s=0.0,
        schedule=Schedule(z=0.0),
    )
    return Result.model_validate({**base.model_dump(by_alias=True), **changes})


@pytest.mark.parametrize(
    ("changes", "runtime", "heuristic", "outcome"),
    [
        ({}, 1.0, False, Outcome.SOLVED),
        ({}, 10.1, False, Outcome.TIMEOUT),
        ({"status": "feasible", "bound": 3, "stopped_by": "time_limit"}, 1, False, Outcome.TIMEOUT),
        (
            {"status": "feasible", "bound": 3, "stopped_by": "rounding"},
            1,
            False,
            Outcome.UNSOLVED,
        ),
        (
            {"status": "feasible", "bound": 3, "stopped_by": "node_limit"},
            1,
            False,
            Outcome.UNSOLVED,
        ),
        ({"status": "feasible", "bound": 3}, 1.0, False, Outcome.UNSOLVED),
        ({"status": "feasible", "bound": 3}, 1.0, True, Outcome.ANSWERED),
        ({}, 1.0, True, Outcome.ANSWERED),
        ({"status": "feasible", "bound": None}, 1.0, False, Outcome.ANSWERED),
        ({"status": "no_incumbent", "schedule": None}, 1.0, True, Outcome.UNSOLVED),
    ],
)
def test_how_answers_count(
    changes: dict[str, object], runtime: float, heuristic: bool, outcome: Outcome
) -> None:
    assert outcome_of(result(**changes), runtime, 10.0, heuristic) is outcome


def test_a_run_that_is_not_complete_has_the_limit_as_its_time() -> None:
    assert record().time == Time(0.25)
    assert record(outcome=Outcome.TIMEOUT, runtime_s=10.2).time == Time(10.0, censored=True)
    assert record(outcome=Outcome.WRONG).time == Time(10.0, censored=True)


def test_csv_round_trip(tmp_path: Path) -> None:
    rows = [
        record(nodes=12, peak_mb=180.5, repeats=7),
        record(line="b", outcome=Outcome.CRASHED, objective=None, message='said "no", then\u00a0—'),
    ]
    path = tmp_path / "runs.csv"
    path.write_text(to_csv(rows, {"problem": "P1", "machine": {"cores": 2}}), encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("# problem: P1\n# machine.cores: 2\n")
    assert read_csv(path) == rows


def test_pandas_reads_the_csv(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "runs.csv"
    path.write_text(to_csv([record(message="see #7")], {"a": 1}), encoding="utf-8")
    assert pandas.read_csv(path, comment="#").message[0] == "see no.7"


@pytest.mark.parametrize(
    ("text", "place"),
    [("", "not a CSV file"), ("a,b\n1,2\n", "not a CSV file")],
)
def test_foreign_csv_is_refused(tmp_path: Path, text: str, place: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=place):
        read_csv(path)


def test_a_damaged_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(to_csv([record(), record()], {}).replace(",10,1,P1", ",ten,1,P1"))
    with pytest.raises(InputError, match="run 1: users: cannot read 'ten'"):
        read_csv(path)


# Wrong answers


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"bound": 1}, "objective 0 and bound 1"),
        ({"bound": None}, "bound None"),
        ({"status": "infeasible"}, "always feasible"),
        ({"schedule": None}, "without a schedule"),
        ({"status": "feasible", "bound": -1}, "below its own objective"),
        ({"objective": 1, "bound": 1}, "its schedule serves 0"),
        ({"schedule": Schedule(z=0.0, ad=("nobody",)), "objective": 1, "bound": 1}, "malformed"),
        ({"schedule": Schedule(z=0.37)}, "rejected"),
    ],
)
def test_false_claims_are_found(changes: dict[str, object], fault: str) -> None:
    instance = generate("paper-4a", 3, 1)
    assert any(fault in found for found in faults(instance, result(**changes), "P1"))


def test_a_true_claim_has_no_fault() -> None:
    assert faults(generate("paper-4a", 3, 1), result(), "P1") == []


def test_of_two_certified_optima_the_lower_is_wrong() -> None:
    low, high = record(line="low"), record(line="high", objective=6, bound=6)
    marked = cross_check([low, high])
    assert [r.outcome for r in marked] == [Outcome.WRONG, Outcome.SOLVED]
    assert marked[0].message == "bound 5, but high serves 6"


def test_a_rejected_schedule_proves_nothing_against_others() -> None:
    marked = cross_check([record(), record(line="b", objective=9, bound=9, outcome=Outcome.WRONG)])
    assert marked[0].outcome is Outcome.SOLVED


def test_a_heuristics_schedule_refutes_a_bound() -> None:
    better = record(line="h", objective=7, bound=None, outcome=Outcome.ANSWERED)
    assert cross_check([record(), better])[0].outcome is Outcome.WRONG


def test_other_instances_and_problems_prove_nothing() -> None:
    others = [record(digest="f" * 12, objective=9), record(problem="P2", objective=9)]
    assert cross_check([record()], others)[0].outcome is Outcome.SOLVED


# Comparison with an earlier benchmark


def test_compare_pairs_runs_by_content() -> None:
    old = [record(runtime_s=1.0), record(digest="a" * 12, outcome=Outcome.TIMEOUT)]
    new = [record(runtime_s=0.5), record(digest="b" * 12, runtime_s=9.0)]
    (change,) = compare(old, new, shift=0.0)
    assert (change.runs, change.solved) == (1, (1, 1))
    assert change.speedup == Time(pytest.approx(2))


def test_changed_objectives_are_named_and_count_as_evidence() -> None:
    old, new = [record(objective=6, bound=6)], [record()]
    (line,) = changed_objectives(old, new)
    assert line == "a on paper-4a-10-1: objective 6 (solved) -> 5 (solved)"
    assert cross_check(new, evidence(old, new))[0].outcome is Outcome.WRONG
    assert cross_check(old, evidence(new, old))[0].outcome is Outcome.SOLVED


def test_compare_says_what_was_measured_differently(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    asked = {"seeds": [1, 2], "rules": ["a: b"], "machine": {"cpu": "old one: 2 GHz"}}
    path.write_text(to_csv([record()], asked))
    now = flat({**asked, "seeds": [3], "machine": {"cpu": "new one"}})
    assert list(protocol_changes(read_protocol(path), now)) == [
        "measured differently: machine.cpu: old one: 2 GHz -> new one"
    ]


# Summaries and pictures


def test_summary_by_hand() -> None:
    cut = Outcome.TIMEOUT
    rows = [
        record(line="slow", runtime_s=8.0),
        record(line="slow", digest="b" * 12, outcome=cut, objective=4, bound=6),
        record(line="slow", digest="c" * 12, outcome=cut, objective=5, bound=6),
        record(line="fast", runtime_s=1.0),
        record(line="fast", digest="b" * 12, runtime_s=2.0),
        record(line="fast", digest="c" * 12, runtime_s=4.0),
    ]
    slow, fast = summarise(rows, shift=0.0, reference="slow")
    assert (slow.solved, slow.best, slow.runs) == (1, 2, 3)
    assert slow.median == Time(10.0, censored=True)
    assert slow.par2_s == pytest.approx(16)
    assert (fast.median, fast.mean.seconds, fast.longest) == (Time(2), pytest.approx(2), Time(4))
    assert fast.ratio == Time(5.0, censored=True)
    assert slow.ratio is None


def test_pictures_return_their_axes() -> None:
    figure = pytest.importorskip("matplotlib.figure")
    rows = [
        record(users=k, instance=f"{line}{k}", line=line, runtime_s=base * k**2)
        for line, base in (("a", 0.001), ("b", 0.01))
        for k in (10, 20, 30)
    ] + [record(users=40, instance="40", outcome=Outcome.TIMEOUT)]
    axes = figure.Figure().subplots(1, 2)
    assert plot_profile(profile(rows), axes[0]) is axes[0]
    assert plot_scaling(scaling(rows), axes[1]) is axes[1]
    assert [text.get_text() for text in axes[1].get_legend().get_texts()] == [
        "a: K^(2.0 ± 0.0)",
        "b: K^(2.0 ± 0.0)",
    ]
    assert axes[0].get_xscale() == axes[1].get_yscale() == "log"


def test_files_without_matplotlib_and_without_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session({Line("a"): Probe("warm-up")}, generated(["ties"], [4], [2]), Protocol())
    assert Findings(session, []).exit_code == Exit.UNDECIDED
    monkeypatch.setattr("verify.bench_files.has_matplotlib", lambda: False)
    assert not bench_files.save(tmp_path, Findings(session, [], interrupted=True))
    names = {"runs.csv", "summary.csv", "profile.csv", "scaling.csv", "bench.json"}
    assert {path.name for path in tmp_path.iterdir()} == names
    monkeypatch.setattr("instances.pictures.has_matplotlib", lambda: False)
    with pytest.raises(InputError, match="pip install matplotlib pandas"):
        plot_profile(profile([]))

"""Pictures of schedules: what is drawn, in which colour, and the command that draws it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from instances import Instance, Result, Schedule, Status, generate, save
from instances.pictures import new_figure

pytest.importorskip("matplotlib")
from verify.schedule_plots import PHASES, plot_memory, plot_timeline


@pytest.fixture(scope="module")
def instance() -> Instance:
    return generate("paper-4a", users=12, seed=0)


def labels(instance: Instance, schedule: Schedule) -> list[str]:
    ax = new_figure(6, 4).subplots()
    assert plot_timeline(instance, schedule, ax) is ax
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def test_every_phase_is_drawn_and_explained_in_its_order(instance: Instance) -> None:
    ids = tuple(user.id for user in instance.users)
    shown = labels(instance, Schedule(z=0.3, ad=ids[:4], sd=ids[4:]))
    assert shown[: len(PHASES)] == list(PHASES)
    assert {"deadline", "deadline, missed"} <= set(shown)
    assert "draft (SLM)" not in labels(instance, Schedule(z=1.0, ad=ids))
    assert "decode (LLM)" not in labels(instance, Schedule(z=0.0, sd=ids))
    assert labels(instance, Schedule(z=0.0)) == []


def test_a_far_deadline_does_not_squash_the_picture(instance: Instance) -> None:
    first = instance.users[0].model_copy(update={"deadline_s": 1e6})
    patient = instance.model_copy(update={"users": (first, *instance.users[1:])})
    schedule = Schedule(z=1.0, ad=(first.id,))
    ax = new_figure(6, 4).subplots()
    plot_timeline(patient, schedule, ax)
    assert ax.get_xlim()[1] < 100
    assert "deadline, later" in labels(patient, schedule)


def test_rows_are_named_however_many(instance: Instance) -> None:
    crowd = generate("paper-4a", users=150, seed=1)
    ids = tuple(user.id for user in crowd.users)
    ax = new_figure(6, 4).subplots()
    plot_timeline(crowd, Schedule(z=0.5, ad=ids[:75], sd=ids[75:]), ax)
    assert 30 <= len(ax.get_yticks()) <= 60


def test_memory_shows_every_part_and_what_is_over(instance: Instance) -> None:
    ids = tuple(user.id for user in instance.users)
    schedule = Schedule(z=0.3, lam=0.4, ad=ids[:4], sd=ids[4:])
    ax = new_figure(6, 2).subplots()
    assert plot_memory(instance, schedule, "P2", ax) is ax
    texts = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    for part in ("LLM weights", "SLM weights", "AD caches", "free for AD", "SD caches"):
        assert part in texts
    assert "over" not in ax.get_title()
    small = instance.hardware.model_copy(update={"memory_bytes": 10**10})
    plot_memory(instance.model_copy(update={"hardware": small}), schedule, "P1", ax)
    assert "over by" in ax.get_title()


@pytest.mark.parametrize(
    ("picture", "code", "error"),
    [
        ("new/picture.svg", 0, ""),
        ("picture.gif", 2, "a picture's name ends in .png, .svg, .pdf, not in '.gif'"),
        ("file/picture.pdf", 2, "cannot be written"),
    ],
)
def test_the_command_draws_a_result_file(
    picture: str,
    code: int,
    error: str,
    instance: Instance,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    odd = instance.model_copy(update={"name": r"$\odd$"})
    save(odd, tmp_path / "instance.json")
    schedule = Schedule(z=1.0, ad=(instance.users[3].id,))
    result = Result(
        status=Status.FEASIBLE,
        problem="P1",
        solver="a hand",
        solver_version="1",
        objective=1,
        runtime_s=0.0,
        schedule=schedule,
    )
    (tmp_path / "result.json").write_text(result.to_json())
    (tmp_path / "file").touch()
    files = [str(tmp_path / name) for name in ("instance.json", "result.json", picture)]
    monkeypatch.setattr(sys, "argv", ["check", *files[:2], "--plot", files[2]])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("verify.check", run_name="__main__")
    assert ended.value.code == code
    stderr = capsys.readouterr().err
    assert error in stderr
    assert len(stderr.splitlines()) == (code > 0)
    if code == 0:
        assert "seconds from the start" in (tmp_path / picture).read_text()

"""The child that compiles the search: only where something compiles, awaited, never left behind."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core import event

from formulations import ready

Children = list[subprocess.Popen[bytes]]


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Children:
    """The children started, each of which writes a file after a while."""
    started: Children = []
    popen = subprocess.Popen

    def note(*args: object, **kwargs: object) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **kwargs))  # type: ignore[call-overload]
        return started[-1]

    code = f"import sys, time; time.sleep(0.1); open({str(tmp_path / 'done')!r}, 'w')"
    monkeypatch.setattr(ready, "_CHILD", code)
    monkeypatch.setattr(ready, "_worthwhile", lambda: True)
    monkeypatch.setattr(subprocess, "Popen", note)
    return started


def compile_something() -> None:
    event.start_event("numba:compile", data={"dispatcher": None})
    event.end_event("numba:compile", data={"dispatcher": None})


def interrupted() -> None:
    with ready.search_beside():
        compile_something()
        raise KeyboardInterrupt


def test_nothing_starts_where_nothing_compiles(children: Children) -> None:
    with ready.search_beside():
        pass
    assert not children


def test_one_child_starts_and_is_awaited(children: Children, tmp_path: Path) -> None:
    with ready.search_beside():
        compile_something()
        compile_something()
    assert [child.returncode for child in children] == [0]
    assert (tmp_path / "done").exists()


def test_ctrl_c_ends_the_child(children: Children, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_CHILD", "import time; time.sleep(60)")
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [child.returncode for child in children] == [-9 if sys.platform != "win32" else 1]
    assert time.monotonic() - begun < 10


def test_a_child_that_hangs_is_given_up(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "_CHILD", "import time; time.sleep(60)")
    monkeypatch.setattr(ready, "PATIENCE_S", 0.05)
    with ready.search_beside():
        compile_something()
    assert children[0].returncode != 0


def test_a_child_that_fails_or_cannot_start_is_done_without(
    children: Children, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ready, "_CHILD", "raise SystemExit(7)")
    with ready.search_beside():
        compile_something()
    assert [child.returncode for child in children] == [7]
    monkeypatch.setattr(sys, "executable", "/no/python")
    with ready.search_beside():
        compile_something()
    assert len(children) == 1


def test_children_have_no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.delenv(ready.ALONE, raising=False)
    assert ready._worthwhile()
    for executable in ("", "/usr/bin/blender"):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", executable)
            assert not ready._worthwhile()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "frozen", True, raising=False)
        assert not ready._worthwhile()
    with monkeypatch.context() as patch:
        patch.setattr("multiprocessing.parent_process", object)
        assert not ready._worthwhile()
    monkeypatch.setenv(ready.ALONE, "1")
    assert not ready._worthwhile()


@pytest.mark.slow
def test_a_first_run_compiles_both_kernels_side_by_side(tmp_path: Path) -> None:
    """The command's own process only compiles Algorithm 3; the search comes from the child."""
    code = (
        "import instances, formulations; from heuristics.threshold_search import search;"
        "formulations.solve(instances.generate('paper-4a', 10, 1));"
        "print(sum(search.stats.cache_hits.values()), sum(search.stats.cache_misses.values()))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        env={"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["1", "0"]

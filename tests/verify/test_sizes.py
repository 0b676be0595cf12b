"""`verify.sizes`: the documented sizes, LP bounds in their order, and what the command prints."""

from __future__ import annotations

import json

import pytest

from formulations.rows import CUTS
from instances import InputError
from instances.generators import generate
from verify.formulation_sizes import sizes, variants
from verify.sizes import main


def test_sizes_and_bounds() -> None:
    instance = generate("paper-4a", 8, seed=2).model_copy(update={"z_grid": (0.0, 0.5, 1.0)})
    found = {size.variant: size for size in sizes(instance, variants(CUTS))}
    assert len(found) == 3 * (len(CUTS) + 2)
    inputs = len({user.input_tokens for user in instance.users})
    rates = len({user.acceptance_rate for user in instance.users})
    compact, everything = found["compact"], found["compact+pairs+dominance+count"]
    assert compact.binaries == 2 * 8 + 2 * inputs + rates
    assert compact.columns == compact.binaries + 2 * (2 * inputs + rates) + 6
    assert max(found["levels"].bound, found["steps"].bound) <= compact.bound + 1e-6
    assert everything.bound <= compact.bound + 1e-6
    assert everything.rows > compact.rows


def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(users=["4"], seeds=["1-2"], as_json=True) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["formulation"] for row in rows] == ["compact", "levels", "steps"]
    assert all(row["instances"] == 2 and row["bound"] >= row["optimum"] - 1e-6 for row in rows)
    assert main(users=["3"], seeds=["1"], cuts="pairs") == 0
    assert "compact+pairs" in capsys.readouterr().out
    with pytest.raises(InputError, match="unknown cut"):
        main(cuts="nonsense")

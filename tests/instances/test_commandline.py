"""What the commands share: several values to an option, and the completion of names."""

from __future__ import annotations

from instances.commandline import completing, spread


def test_bare_words_belong_to_the_list_option_before_them() -> None:
    spelled = "--users 10 20 --jobs 1 --seeds 1-5 7 --json --users=3 4"
    spread_out = "--users 10 --users 20 --jobs 1 --seeds 1-5 --seeds 7 --json --users=3 --users 4"
    assert spread(spelled.split(), ("--users", "--seeds")) == spread_out.split()


def test_the_last_of_several_names_is_completed() -> None:
    complete = completing(lambda: ("highs", "heuristic", "scip"))
    assert complete("h") == ["highs", "heuristic"]
    assert complete("scip,hi") == ["scip,highs"]
    assert complete("x") == []

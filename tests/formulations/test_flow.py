"""The flow bound's greedy choice against networkx's network flow on the same counts."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from formulations import flow
from formulations.points import Point
from instances import CostTables, build_tables
from instances.generators import generate


def network_bound(tables: CostTables, point: Point) -> int:
    """Send users to modes and on to a sink, at a cost of minus their value."""
    graph = nx.DiGraph()
    modes = {"ad": flow._ad_counts(tables, point), "sd": flow._sd_counts(tables, point)}
    for mode, (users, most) in modes.items():
        graph.add_edge(mode, "sink", capacity=int(most), weight=0)
        for k in users:
            graph.add_edge("source", int(k), capacity=1, weight=-int(tables.value[k]))
            graph.add_edge(int(k), mode, capacity=1, weight=0)
    if "source" not in graph:
        return 0
    graph.add_edge("source", "sink", weight=0)  # nobody need be served
    graph.nodes["source"]["demand"] = -tables.users
    graph.nodes["sink"]["demand"] = tables.users
    return -int(nx.min_cost_flow_cost(graph))


@pytest.mark.parametrize("family", ["paper-4a", "paper-5a", "memory-tight", "no-sd"])
@pytest.mark.parametrize("valued", [False, True])
def test_greedy_choice_is_the_most_valuable_flow(family: str, valued: bool) -> None:
    rng = np.random.default_rng(3)
    instance = generate(family, 12, seed=4)
    if valued:
        users = [
            user.model_copy(update={"value": int(rng.integers(1, 9))}) for user in instance.users
        ]
        instance = instance.model_copy(update={"users": tuple(users)})
    tables = build_tables(instance, rounded_up=False)
    bounds = set()
    for z in range(len(instance.z_grid)):
        point = Point(z, None)
        bounds.add(flow.flow_bound(tables, point))
        assert flow.flow_bound(tables, point) == network_bound(tables, point)
        assert flow.flow_bound(tables, replace(point, allow_ad=False)) == network_bound(
            tables, replace(point, allow_ad=False)
        )
    assert bounds - {0}

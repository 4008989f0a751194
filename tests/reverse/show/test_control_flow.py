"""Graphs of control flow as structure: they are walked as the graph is."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numbad.reverse.show.control_flow import Go, If, ShownBlock, ShownLoop, Structure
from tests.reverse.listed import Machine, Statement


class Walk:
    """Decides at branches, always the same way, and remembers the blocks."""

    def __init__(self, seed):
        self.draw, self.blocks = random.Random(seed), []

    def visit(self, label):
        self.blocks.append(label)
        if len(self.blocks) == 60:
            raise OverflowError
        return self.draw.random() < 0.5


def directly(graph, walk):
    label = 0
    while graph[label]:
        first = walk.visit(label)
        label = graph[label][0 if first or len(graph[label]) == 1 else 1]
    walk.visit(label)


def written(items, targets, graph):
    """The items as statements that the machine for listings runs."""
    statements = []
    for item in items:
        if isinstance(item, ShownBlock):
            if item.label in targets:
                statements.append(Statement(f"label {item.label}:"))
            statements.append(Statement(f"first = visit({item.label})"))
            if not graph[item.label]:
                statements.append(Statement("return 0"))
        elif isinstance(item, If):
            statements.append(Statement("if first:", written(item.then, targets, graph)))
            statements.append(Statement("else:", written(item.otherwise, targets, graph)))
        elif isinstance(item, ShownLoop):
            statements.append(Statement("while True:", written(item.body, targets, graph)))
        elif isinstance(item, Go):
            goto = item.kind == "goto"
            statements.append(Statement(f"go to {item.target}" if goto else item.kind))
    return statements


@pytest.mark.dear
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_structured_graphs_are_walked_as_the_graph_is(seed, size):
    draw = random.Random(seed)
    graph = {
        n: draw.sample(range(size), min(draw.choice([0, 1, 1, 2, 2, 2]), size)) for n in range(size)
    }
    items, targets = Structure(graph, 0, draw.sample(range(size), size // 2)).run()
    machine = Machine(written(items, targets, graph), {})
    for decisions in range(5):
        direct, structured = Walk(decisions), Walk(decisions)
        machine.variables["visit"] = structured.visit
        for way in (lambda walk: directly(graph, walk), lambda walk: machine.run()):
            try:
                way(direct if way.__code__.co_names[0] == "directly" else structured)
            except OverflowError:
                pass
        assert direct.blocks == structured.blocks

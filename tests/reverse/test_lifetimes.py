"""Where variables end, beside what Numba itself finds."""

import numpy as np
import pytest
from numba.core.postproc import VariableLifetime

import numbad as nd
from numbad.reverse import lowering
from numbad.reverse.lifetimes import Lifetimes

A = np.array([0.5, 1.5, -0.75, 2.0])


def views_in_loops(a, n):
    total, y = 0.0, a
    for i in range(n):
        z = np.sin(y) * (i + 1)
        if z[0] > 0.3:
            y = z[1:]
        else:
            y = z
        for k in range(2):
            z = z * z
            total += z.sum() * y[k]
    return total


def several_exits(a, n):
    b = a * a
    for i in range(n):
        if b[i] < 0.1:
            return b[0] * a[i]
        c = b + a
        while c[i] > 2.0:
            c = 0.5 * c
            if c[0] < 0.2:
                return c[1]
        b = c * a
    return b[2]


def never_set_on_one_way(a, n):
    if n > 2:
        b = [a * a, 2.0 * a]
    total = a[0]
    for i in range(n):
        if n > 2:
            total += b[i % 2][i] * a[1]
    return total


@pytest.fixture
def compared(monkeypatch):
    """How many ends have been compared."""
    found = []

    class Beside(Lifetimes):
        def __init__(self, blocks, names):
            super().__init__(blocks, names)
            numbas = VariableLifetime(blocks)
            uses = numbas.usedefs
            numbas.usedefs = type(uses)(
                *({label: used & names for label, used in each.items()} for each in uses)
            )
            for label in blocks:
                assert self.deadmaps.internal[label] == numbas.deadmaps.internal[label]
                assert self.deadmaps.escaping[label] == numbas.deadmaps.escaping[label]
                found.append(len(self.deadmaps.combined[label]))

    monkeypatch.setattr(lowering, "Lifetimes", Beside)
    return found


@pytest.mark.parametrize("f", [views_in_loops, several_exits, never_set_on_one_way])
def test_variables_end_where_numba_says(f, compared):
    gradient = nd.grad(f, mode="reverse")(A, 3)
    assert sum(compared) > 10
    assert gradient == pytest.approx(nd.grad(f, mode="forward")(A, 3), rel=1e-13)

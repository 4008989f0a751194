"""Functions as typed blocks: what is kept beside the blocks."""

import numpy as np
from numba import njit
from numba.core import ir

import numbad as nd
from numbad.ir.function import Function


@njit
def smooth(a, x):
    b = np.exp(-a) * x
    for k in range(len(b)):
        if b[k] > 0.5:
            return b[k] * a
    return b


def several_callees(a, x):
    b = smooth(a, x) + smooth(a * x, a[0])
    b[1:] = smooth(b[:-1], 0.5)
    return b.sum() * x


def test_definitions_follow_code_that_is_put_in_place(monkeypatch):
    """What is known of all names, when those of some blocks are looked at, is what all blocks say."""
    compared = []
    changed = Function.changed

    def checked(self, labels=None):
        changed(self, labels)
        for label, s in self.statements() if labels is not None else ():
            if isinstance(s, ir.Assign):
                assert self.definitions[s.target.name] == (label, s.value)
                compared.append(s)

    monkeypatch.setattr(Function, "changed", checked)
    nd.grad(several_callees, (0, 1), mode="reverse")(np.array([0.3, 0.9, 1.4]), 0.7)
    assert len(compared) > 1000

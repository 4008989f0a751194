"""What loops record, and what is computed again from it."""

from types import SimpleNamespace

import numpy as np

import numbad as nd
from tests.reverse.stages import sweep_of


def steps_in_place(u, v):
    for _ in range(3):
        u -= v
    return (u * u).sum()


def test_what_loops_further_out_record_counts_for_nothing():
    """The steps along both axes, which each step of time has anew, and not the indices of each element."""
    u, v = np.random.default_rng(0).normal(size=(2, 3, 4))
    sweep = sweep_of(steps_in_place, SimpleNamespace(runs=[(u, v)], wrt=(0, 1)))
    loops = sweep.control.loops
    (innermost,) = (h for h in loops if loops[h].parent and loops[h].parent.parent)
    assert not sweep.plan.frames[innermost]
    np.testing.assert_allclose(
        nd.grad(steps_in_place, mode="reverse")(u.copy(), v), 2 * (u - 3 * v)
    )

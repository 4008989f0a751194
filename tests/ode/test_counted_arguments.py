"""Arguments of a solver whose references Numba counts: strings, lists, dictionaries, instances."""

import gc

import numpy as np
import pytest
from numba import types
from numba.core.runtime import rtsys
from numba.experimental import jitclass
from numba.typed import Dict, List

import numbad as nd

TS = np.linspace(0.0, 1.0, 3)


@jitclass([("rate", types.float64)])
class Model:
    def __init__(self, rate):
        self.rate = rate


def _dictionary():
    found = Dict.empty(types.unicode_type, types.float64)
    found["rate"] = 0.5
    return found


COUNTED = {
    "string": (lambda: "half " + str(len(TS)), lambda t, y, k, p: -k * y if len(p) > 3 else y),
    "list": (lambda: List([0.5]), lambda t, y, k, p: -2.0 * k * y * p[0]),
    "dict": (_dictionary, lambda t, y, k, p: -2.0 * k * y * p["rate"]),
    "instance": (lambda: Model(0.5), lambda t, y, k, p: -2.0 * k * y * p.rate),
}


def in_use():
    gc.collect()
    found = rtsys.get_allocation_stats()
    return found.alloc - found.free, found.mi_alloc - found.mi_free


@pytest.fixture
def counting():
    """Numba's counts of what is allocated, which are off by default."""
    from numba.core.runtime import _nrt_python as counts

    was = counts.memsys_stats_enabled()
    counts.memsys_enable_stats()
    yield
    if not was:
        counts.memsys_disable_stats()


def _check(call, wanted, made):
    """The call's result, and what is left of its argument: as much as there was before."""
    given = made()
    call(0.5, given)
    before = in_use()
    for _ in range(3):
        assert call(0.5, given) == pytest.approx(wanted, rel=1e-5)
    assert in_use() == before
    assert call(0.5, made()) == pytest.approx(wanted, rel=1e-5)


@pytest.mark.deep(but=["list-Tsit5"])
@pytest.mark.parametrize("method", ["Tsit5", "Rodas5P", "BDF"])
@pytest.mark.parametrize("kind", [*COUNTED])
def test_are_alive_after_the_solution(kind, method, counting):
    made, fun = COUNTED[kind]
    solve = nd.ode.solver(fun, method=method)
    for y0 in (np.ones(2), 1.0):
        _check(lambda k, p, y0=y0: solve(y0, TS, (k, p))[-1, 0], np.exp(-0.5), made)


@pytest.mark.deep
@pytest.mark.parametrize("kind", [*COUNTED])
def test_are_alive_after_a_derivative(kind, counting):
    made, fun = COUNTED[kind]
    event = nd.ode.event(lambda t, y, k, p: y[0] - 0.8, change=lambda t, y, k, p: 1.0 * y)
    for events in (None, event):
        solve = nd.ode.solver(fun, events=events)
        slope = nd.derivative(lambda k, p: solve(np.ones(2), TS, (k, p))[-1, 0])  # noqa: B023
        _check(slope, -np.exp(-0.5), made)


@pytest.mark.deep
def test_strings_are_alive_after_a_gradient(counting):
    made, fun = COUNTED["string"]
    solve = nd.ode.solver(fun)
    gradient = nd.grad(lambda k, p: solve(np.ones(2), TS, (k, p))[-1, 0], mode="reverse")
    _check(gradient, -np.exp(-0.5), made)


def test_lists_are_refused_in_reverse_mode():
    made, fun = COUNTED["list"]
    solve = nd.ode.solver(fun)
    gradient = nd.grad(lambda k, p: solve(np.ones(2), TS, (k, p))[-1, 0], mode="reverse")
    with pytest.raises(nd.UnsupportedError, match="with a list among its args(.|\n)*an array"):
        gradient(0.5, made())

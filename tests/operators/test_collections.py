"""Garbage collections wait for the compiler, and are as the user had them afterwards."""

import gc

import numba
import numpy as np
import pytest
from numba.core import event

import numbad as nd


@pytest.fixture(params=[True, False], ids=["collecting", "not collecting"])
def enabled(request):
    """Whether the user has collections; put back afterwards."""
    before = gc.isenabled()
    (gc.enable if request.param else gc.disable)()
    yield request.param
    (gc.enable if before else gc.disable)()


class Listener(event.Listener):
    """Notes whether garbage would be collected, whenever Numba begins to compile a function."""

    def __init__(self):
        self.enabled = []

    def on_start(self, event):
        self.enabled.append(gc.isenabled())

    def on_end(self, event):
        pass


def fresh():
    def f(x):
        total = 0.0
        for k in range(5):
            total += np.sin(x * k) if k % 2 else x**k
        return total

    return numba.njit(f)


def test_none_while_compiling(enabled, monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")
    listener = Listener()
    with event.install_listener("numba:compile", listener):
        nd.grad(fresh(), mode="reverse")(1.0)
    assert listener.enabled
    assert not any(listener.enabled)
    assert gc.isenabled() == enabled


def test_as_before_where_refused(enabled):
    def f(x):
        with numba.objmode(y="float64"):
            y = x
        return y

    with pytest.raises(nd.UnsupportedError):
        nd.grad(numba.njit(f), mode="reverse")(1.0)
    assert gc.isenabled() == enabled

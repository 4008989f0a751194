"""What the user drops goes: the function, and what was made of it."""

import gc
import os
import weakref

import numpy as np
import pytest
from numba import njit

import numbad as nd

MOST = 1.5  # MiB that a function may leave behind; Numba itself leaves 0.75


@pytest.fixture(autouse=True)
def _compiled_here(monkeypatch):
    monkeypatch.setenv("NUMBAD_CACHE_DIR", "off")


def _make(k):
    def f(x):
        return k * x * x - 1.0

    return f


def _decay(k):
    def f(t, y, rate):
        return (-rate * k * y[0],)

    return f


def _fit(f):
    ts = np.arange(1.0, 4.0)
    nd.fit.fit_ode(f, ts, np.exp(-ts), [0.5], y0=[1.0])


def _solve(f):
    nd.ode.solve_ivp(f, (0.0, 1.0), (1.0,), args=(0.5,))


USES = {
    "forward": (_make, lambda f: nd.grad(f, mode="forward")(1.0)),
    "reverse": (_make, lambda f: nd.value_and_grad(f, mode="reverse")(1.0)),
    "jitted": (lambda k: njit(_make(k)), lambda f: nd.grad(f, mode="reverse")(1.0)),
    "second order": (_make, lambda f: nd.hessian(f)(1.0)),
    "pattern": (_make, lambda f: nd.jacobian(f, sparsity="detect")(np.ones(3))),
    "root": (_make, lambda f: nd.root(f, 1.0)),
    "batch": (_make, lambda f: nd.batch(f)(np.ones(3))),
    "solver": (_decay, _solve),
    "fit": (_decay, _fit),
}


@pytest.mark.dear
@pytest.mark.deep(but=["forward", "reverse", "solver", "jitted"])
@pytest.mark.parametrize("use", USES)
def test_nothing_keeps_a_function(use):
    make, apply = USES[use]
    dropped = []
    for k in (2.0, 3.0):
        f = make(k)
        apply(f)
        dropped.append(weakref.ref(f))
        del f
    gc.collect()
    assert [f() for f in dropped] == [None, None]


def _resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 2**20


@pytest.mark.deep
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="tells memory as Linux does")
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_memory(mode):
    count = 15
    for k in range(1, 6 + count):
        if k == 6:
            before = _resident()
        assert nd.grad(_make(float(k)), mode=mode)(1.0) == 2.0 * k
    assert _resident() - before < MOST * count

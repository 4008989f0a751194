"""What compiling asks of the interpreter: no collections of garbage, no memory mapped at every call."""

import gc

import numba
import numpy as np
import pytest
from numba.core import event

import numbad as nd
from numbad.compilation.interpreter import at_full_speed, with_room_for_frames

from .processes import run


@pytest.fixture(autouse=True)
def collections():
    """Tests run without (`tests/worker_memory.py`)."""
    were_on = gc.isenabled()
    gc.enable()
    yield
    if not were_on:
        gc.disable()


def test_collections_wait_until_it_has_returned():
    seen = []
    assert at_full_speed(lambda x: (seen.append(gc.isenabled()), x)[1])(3.0) == 3.0
    assert seen == [False]
    assert gc.isenabled()


def test_collections_go_on_after_an_error():
    def fails():
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        at_full_speed(fails)()
    assert gc.isenabled()


def test_who_has_put_collections_off_keeps_them_off():
    gc.disable()
    try:
        at_full_speed(lambda: None)()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_calls_map_no_memory_at_any_depth():
    """From the end of a piece of the interpreter's frames each call would touch a new page: a page fault."""
    resource = pytest.importorskip("resource")

    def callee(
        a,
    ):  # of a larger frame than its caller's: at some depth only the latter fits a piece
        b = c = d = e = f = g = h = i = j = k = m = n = o = p = q = r = s = t = u = v = a
        return [a, b, c, d, e, f, g, h, i, j, k, m, n, o, p, q, r, s, t, u, v]

    def faults(depth):
        if depth:
            return faults(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(1000):
            callee(1)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    @with_room_for_frames
    def most():
        return max(faults(depth) for depth in range(150))

    assert most() < 500


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


def test_collections_wait_until_what_is_public_is_loaded(tmp_path):
    """Each would walk over all that Numba has loaded: a third of the time that `nd.grad` takes to load."""
    program = tmp_path / "loads.py"
    program.write_text(
        "import gc, numba, numbad\n"
        "started = []\n"
        "gc.callbacks.append(lambda phase, info: started.append(phase))\n"
        "numbad.grad, numbad.ode\n"
        "assert gc.isenabled()\n"
        "print(started.count('start'))\n"
    )
    assert run(program, tmp_path / "cache") <= 2, "what is new may be walked over once after each"

"""What compiling asks of the interpreter: no collections of garbage, no memory mapped at every call."""

import gc

import pytest

from numbad.compilation.interpreter import at_full_speed, with_room_for_frames


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

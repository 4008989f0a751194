"""The tape, its arena and its guard: what goes in comes out, and nothing stays behind."""

import resource
import sys
import threading

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError
from numba.core.runtime import rtsys

from numbad.forward.access import partial, primal, unit
from numbad.forward.dual import Dual
from numbad.reverse import arena
from numbad.reverse.pipeline import GuardCompiler
from numbad.reverse.value_tape import call_guarded, pop_frame, push_frame, read_frame, tape_start

pytestmark = pytest.mark.usefixtures("counts", "limit")
D3 = Dual(types.float64, 3, 0)
zeros_like = arena.arena_zeros_like()


def on_tape(body):
    """The function of `args` that runs `body(tape, args)` under a guard, for Python."""
    body = njit(body)

    @njit
    def inner(tape, args, shadows, seed):
        return body(tape, args)

    @njit(nogil=True)
    def run(*args):
        return call_guarded(inner, args, None, None)

    return run


@on_tape
def round_trip(tape, args):
    """The number of frames that do not come back as they were pushed."""
    (n,) = args
    x = np.arange(6.0).reshape(2, 3)
    top = tape_start(tape)
    for i in range(n):
        d = unit(i * 1.5, i % 3, 3, 0)
        top = push_frame(
            tape, top, "here, line 1", i, i * 0.5, i % 3 == 0, np.int8(i % 128), 1j * i,
            np.float32(i), d, (i, (i + 0.5, i % 2 == 0)), arena.borrow(x[i % 2]), None, 3
        )  # fmt: skip
    wrong = 0
    for i in range(n - 1, -1, -1):
        like = (i, 1.0, True, np.int8(1), 1j, np.float32(1), unit(1.0, 0, 3, 0),
                (i, (0.5, True)), x[0], None, 7)  # fmt: skip
        top = pop_frame(top, *like)
        a, b, c, e, z, f, d, t, row, _, seven = read_frame(top, *like)
        same = a == i and b == i * 0.5 and c == (i % 3 == 0) and e == i % 128 and z == 1j * i
        same = same and f == np.float32(i) and primal(d) == i * 1.5 and seven == 3
        for k in range(3):
            same = same and partial(d, k) == (1.0 if k == i % 3 else 0.0)
        same = same and t[0] == i and t[1][0] == i + 0.5 and t[1][1] == (i % 2 == 0)
        wrong += not (same and row.sum() == (3.0 if i % 2 == 0 else 12.0))
    return wrong


@pytest.mark.parametrize("n", [0, 1, 90, 91, 100, 10_000, 1_000_000])
def test_frames_return_in_reverse_order(n):
    assert round_trip(n) == 0


@on_tape
def nested(tape, args):
    """Inner loops of i % 4 frames; each outer frame holds the count, a flag and a float."""
    (n,) = args
    top = push_frame(tape, tape_start(tape), "nested, line 1")
    for i in range(n):
        for j in range(i % 4):
            top = push_frame(tape, top, "nested, line 2", np.int8(j), i * j)
        if i % 5:
            top = push_frame(tape, top, "nested, line 3", i % 7 == 0)
        top = push_frame(tape, top, "nested, line 4", i % 4, i % 5 != 0, 1.0 / (i + 1))
    wrong = 0
    for i in range(n - 1, -1, -1):
        top = pop_frame(top, 0, True, 1.0)
        count, flag, x = read_frame(top, 0, True, 1.0)
        wrong += count != i % 4 or flag != (i % 5 != 0) or x != 1.0 / (i + 1)
        if flag:
            top = pop_frame(top, True)
            wrong += read_frame(top, True)[0] != (i % 7 == 0)
        for j in range(count - 1, -1, -1):
            top = pop_frame(top, np.int8(0), i)
            k, ij = read_frame(top, np.int8(0), i)
            wrong += k != j or ij != i * j
    return wrong


@pytest.mark.parametrize("n", [3, 1000, 100_000])
def test_frames_of_several_shapes_nest(n):
    assert nested(n) == 0


def test_threads_have_a_tape_each():
    wrong = []

    def work(n):
        for _ in range(5):
            wrong.append(round_trip(n) + nested(n))

    threads = [threading.Thread(target=work, args=(10_000 + 1000 * k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0] * 80


def test_what_counts_references_is_refused():
    @on_tape
    def push_list(tape, args):
        push_frame(tape, tape_start(tape), "here, line 1", [args[0]])

    with pytest.raises(TypingError, match="cannot be recorded"):
        push_list(1.0)


# -- the guard --------------------------------------------------------------------------------


@njit
def fill(tape, args, shadows, seed):
    """Put 1 MiB on the stack and in the arena, then raise where args[1] is set."""
    top = tape_start(tape)
    for i in range(2**17):
        top = push_frame(tape, top, "fill, line 1", i)
    shadow = zeros_like(tape, args[0])
    shadow[0] = seed
    if args[1]:
        raise ValueError("the user's own")
    return args[0] * 2.0 + shadow[0], shadows[0]


freeing = njit(pipeline_class=GuardCompiler)


@freeing
def call_fill(args, seed):
    shadows = (np.zeros_like(args[0]), None)
    return call_guarded(fill, args, shadows, seed)


@freeing
def call_fill_directly(args, seed):
    return call_guarded(fill, args, (np.zeros_like(args[0]), None), seed)


def _live():
    stats = rtsys.get_allocation_stats()
    return stats.alloc - stats.free


def _resident():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_result_of_a_guarded_call_outlives_it():
    x = np.arange(400.0)  # of small ones, Python gets copies
    for run in (lambda: call_fill((x, False), 3.0), lambda: call_fill_directly((x, False), 3.0)):
        value, shadow = run()
        seed = value[0]
        before = _live()
        value, shadow = run()
        np.testing.assert_array_equal(value, seed + 2 * x)
        np.testing.assert_array_equal(shadow, np.zeros(400))
        assert _live() == before  # two arrays made, the two of before dropped
        del value, shadow
        assert _live() == before - 2


@pytest.mark.parametrize(
    "run", [call_fill, call_fill_directly], ids=["by name", "made in the call"]
)
def test_an_exception_leaves_nothing(run):
    x = np.zeros(2**17)
    for _ in range(20):
        with pytest.raises(ValueError, match="the user's own"):
            run((x, True), 1.0)
    live, resident = _live(), _resident()
    for _ in range(2_000):
        with pytest.raises(ValueError, match="the user's own"):
            run((x, True), 1.0)
    assert _resident() - resident < 20 * 2**20
    assert _live() == live


@freeing
def call_fill_with(args, shadow, seed):
    return call_guarded(fill, args, (shadow, None), seed)


def test_an_exception_drops_shadows_and_arguments_once():
    x, shadow = np.zeros(8), np.zeros(8)
    counts = sys.getrefcount(x), sys.getrefcount(shadow)
    for _ in range(100):
        with pytest.raises(ValueError, match="the user's own"):
            call_fill_with((x, True), shadow, 1.0)
    assert (sys.getrefcount(x), sys.getrefcount(shadow)) == counts


@on_tape
def shadows(tape, args):
    """What is not zero in shadows of two arrays, which are then filled."""
    wrong = 0
    for x in args:
        shadow = zeros_like(tape, x)
        wrong += np.count_nonzero(shadow)
        shadow[:] = 1.0
    return wrong


new_vector = arena.vector_new(types.float64)
new_dual_vector = arena.vector_new(D3)
Point = arena.ShadowStruct((("flag", types.boolean), ("x", types.float64), ("d", D3),
                            ("a", types.Array(types.float64, 1, "C"))))  # fmt: skip
new_point = arena.struct_new(Point)
get_flag, get_x, get_d, get_a = (arena.struct_get(n) for n in ("flag", "x", "d", "a"))
set_flag, set_x, set_d, set_a = (arena.struct_set(n) for n in ("flag", "x", "d", "a"))


@on_tape
def vector(tape, args):
    """The number of elements that are wrong after growing from `m` to `n` one by one."""
    m, n = args
    v, w = new_vector(tape, m), new_dual_vector(tape, 0)
    wrong = 0
    for i in range(n):
        arena.vector_reserve(tape, v, i + 1)
        arena.vector_reserve(tape, w, i + 1)
        wrong += arena.vector_get(v, i) != 0.0 or partial(arena.vector_get(w, i), i % 3) != 0.0
        arena.vector_set(v, i, i + 0.5)
        arena.vector_set(w, i, unit(i * 1.0, i % 3, 3, 0))
    top = push_frame(tape, tape_start(tape), "vector, line 1", v, w)
    v, w = read_frame(pop_frame(top, v, w), v, w)
    for i in range(n):
        d = arena.vector_get(w, i)
        wrong += arena.vector_get(v, i) != i + 0.5 or primal(d) != i or partial(d, i % 3) != 1.0
    return wrong


@pytest.mark.parametrize(("m", "n"), [(0, 1), (3, 3), (3, 1000), (0, 30_000)])
def test_vector_grows_with_zeros(m, n):
    assert vector(m, n) == 0


def test_struct_keeps_its_fields():
    @on_tape
    def struct(tape, args):
        p, q = new_point(tape), new_point(tape)
        zero = get_x(p) + primal(get_d(p)) + get_a(p).size + get_flag(p)
        set_x(p, 2)
        set_flag(p, True)
        set_d(p, unit(4.0, 1, 3, 0))
        set_a(p, zeros_like(tape, args[0]))
        get_a(p)[1] += 5.0
        untouched = get_x(q) + primal(get_d(q)) + get_a(q).size + get_flag(q)
        d = get_d(p)
        return zero, untouched, get_flag(p), get_x(p), partial(d, 1), primal(d), get_a(p)[1]

    assert struct(np.ones(3)) == (0.0, 0.0, True, 2.0, 1.0, 4.0, 5.0)

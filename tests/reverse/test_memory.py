"""The memory of tapes: who gives it back, what waits for the next call, and what code needs no helpers."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.errors import TapeLimitError
from numbad.reverse import memory
from numbad.reverse.memory import pool_bytes, release_pool, set_tape_limit
from numbad.reverse.value_tape import push_frame, tape_start
from tests.reverse.test_leaks import growth
from tests.reverse.test_value_tape import on_tape, round_trip

LONG = 20_000  # steps that a tape on the machine stack does not hold

SMALL = """
import math
import numbad as nd
from numbad.reverse import memory

def smooth(v):
    total = 0.0
    for x in v:
        total += x * math.sin(x)
    return total

def long(x, n):
    for _ in range(n):
        x = math.sin(x) if x > 0.3 else x * x + 0.5
    return x

import numpy as np
nd.grad(smooth, mode="reverse")(np.ones(3))
nd.grad(math.sin, mode="reverse")(1.0)
print(memory.define_helper.cache_info().currsize)
nd.grad(long, mode="reverse")(0.4, 3)
print(memory.define_helper.cache_info().currsize)
"""


def test_code_compiles_the_helpers_that_it_needs(tmp_path):
    """The first gradient in a new environment: helpers would take two thirds of its time."""
    folder = {"NUMBAD_CACHE_DIR": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    found = subprocess.run(
        [sys.executable, "-c", SMALL],
        env=os.environ | folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split() == ["0", "2"]


@njit
def walk(x, n):
    for _ in range(n):
        x = math.sin(x) * 1.1 if x > 0.3 else x * x + 0.5
    return x


@njit
def even(x, n, depth):
    if depth == 0:
        return x
    return odd(walk(x, n), n, depth - 1)


@njit
def odd(x, n, depth):
    if depth == 0:
        return 2.0 * x
    return even(math.cos(x), n, depth - 1)


@pytest.mark.dear
def test_functions_that_call_each_other_give_back_their_records():
    """Whichever is called from outside, and whichever of them has the record."""
    for f, depth in ((even, 3), (odd, 2)):
        gradient = nd.grad(f, mode="reverse")
        assert growth(lambda _, g=gradient, d=depth: g(0.4, LONG, d), warm=2, calls=20)[0] < 2**20


@pytest.mark.dear
def test_a_solver_around_another_function_gives_back_its_record():
    """Code around a right-hand side that keeps no record is not that around one that does."""

    def straight(t, y, a):
        return (-a * y[0],)

    def winding(t, y, a):
        x = y[0]
        for _ in range(LONG):
            x = math.sin(x) + 0.1
        return (-a * x,)

    for fun in (straight, winding):
        solve = nd.ode.solver(fun, rtol=1e-2, atol=1e-2, adjoint="gauss")
        gradient = nd.grad(
            lambda a, solve=solve: solve((1.0,), np.array([0.0, 0.5]), (a,))[-1, 0], mode="reverse"
        )
        gradient(0.3)
        assert growth(lambda _, g=gradient: g(0.3), warm=1, calls=15)[0] < 2**20


@pytest.mark.usefixtures("counts", "limit")
def test_stack_blocks_wait_for_the_next_call():
    assert round_trip(50) == 0
    assert pool_bytes() == 0  # the first chunk lies on the machine stack
    assert round_trip(10_000) == 0
    pooled = pool_bytes()
    assert pooled > 1e6
    block = [b for b in memory._pool if b]
    for _ in range(3):
        assert round_trip(10_000) == 0
    assert [b for b in memory._pool if b] == block
    assert pool_bytes() == pooled
    release_pool()
    assert pool_bytes() == 0


@pytest.mark.usefixtures("counts", "limit")
def test_limit_names_the_place_and_the_way_out():
    set_tape_limit(1_000_000)
    with pytest.raises(TapeLimitError) as caught:
        round_trip(100_000)
    assert isinstance(caught.value, MemoryError)
    for word in ("here, line 1", "1000000 bytes", "nd.checkpoint", "NUMBAD_TAPE_LIMIT"):
        assert word in str(caught.value)
    set_tape_limit(100_000_000_000)
    assert round_trip(100_000) == 0


@pytest.mark.usefixtures("counts", "limit")
def test_limit_is_used_to_its_end():
    """8 bytes a frame: what fits under the limit passes, one frame more does not."""

    @on_tape
    def words(tape, args):
        top = tape_start(tape)
        for i in range(args[0]):
            top = push_frame(tape, top, "words, line 1", i)
        return args[0]

    set_tape_limit(1_000_000)
    assert words(125_000) == 125_000
    with pytest.raises(TapeLimitError):
        words(125_001)

"""Tuples with floats beside differentiated numbers: Numba's own code for them wants members of one type."""

from collections import namedtuple

import numba
import pytest

import numbad as nd
from tests.forward.compare import Programs, check

programs = Programs()


@programs.on(0.7)
def loop(x):
    total = 0.0
    for v in (x, 2.0, 3.0 * x):
        total = total * x + v
    return total


@programs.on(0.7)
def numbered(x):
    total = 0.0
    for k, v in enumerate((2.0, x, x * x)):
        total += v * (k + 1) * x
    return total


@programs.on(0.7)
def side_by_side(x):
    total = 0.0
    for v, w, k in zip((x, 2.0), (1.0, 2.0), (3.0, x)):  # noqa: B905  (Numba has no strict=)
        total += v * w * k
    return total


@programs.on(0.7, 1)
@programs.on(0.7, 2)
def at_run_time(x, k):
    t = (x, 2.0, x * x)
    return t[k] * x + t[-k]


@programs.on(0.7)
def nested(x):
    total, pairs = 0.0, ((x, 1.0), (2.0, 3.0))
    for v, w in pairs:
        total = total * x + v * w
    for i in range(2):
        for j in range(2):
            total = total * x + pairs[i][j]
    return total


@programs.on(0.7)
@programs.on(3.7)
def extrema(x):
    return max((x, 2.0, 3.0 - x)) * x + min((3.0, x * x, 1.0)) + sum((1.0, x, 2.0))


@programs.on(0.7)
def as_a_list(x):
    found = list((2.0, x, x * x))  # noqa: C410
    found.append(1.0)
    return found[1] * found[2] + sum(found)


@programs.on(0.7 + 0.2j)
def of_complex_numbers(z):
    total = 0j
    for v in (z, 2.0j, z * z):
        total = total * z + v
    return total


@programs.on(0.7)
def member(x):
    r = x * x
    if x in (0.0, r, -r) or r not in (0.0, r):
        return r
    return x * r


Pair = namedtuple("Pair", "first second")
Nested = namedtuple("Nested", "pair count")


@numba.njit
def constant_in_one_branch(x):
    if x > 0:
        return Pair(x * x, 0.0)
    return Pair(1.0, x * 3)


@numba.njit
def constants_at_first(x):
    found = Nested(Pair(0.0, 1.0), 1)
    for _ in range(3):
        found = Nested(Pair(found.pair.first + x, found.pair.second), found.count + 1)
    return found.pair.first * x * found.count + found.pair.second


@numba.njit
def in_a_list(x):
    pairs = [Pair(0.0, x)]
    for _ in range(3):
        pairs.append(Pair(pairs[-1].first + x, 2.0))
    return pairs[-1].first * pairs[1].second * pairs[0].second


@pytest.mark.parametrize("x", [1.5, -1.5])
def test_named_tuple_with_a_constant_in_one_branch(x):
    found = nd.derivative(constant_in_one_branch)(x)
    assert found == (Pair(2 * x, 0.0) if x > 0 else Pair(0.0, 3.0))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_named_tuples_that_take_turns(mode):
    assert nd.grad(constants_at_first, mode=mode)(1.5) == pytest.approx(24 * 1.5)
    assert nd.grad(in_a_list, mode=mode)(1.5) == pytest.approx(12 * 1.5)


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)

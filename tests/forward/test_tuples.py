"""Tuples with floats beside differentiated numbers: Numba's own code for them wants members of one type."""

import pytest

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


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)

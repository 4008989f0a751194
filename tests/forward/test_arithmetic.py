"""Every scalar rule through compiled dual numbers: value, first and second derivatives, kinks.

Cases are compiled a dozen at a time: one function of a tuple of arguments for each, in one tuple.
"""

import functools
import math

import numba
import numpy as np
import pytest
from mpmath import mp

import numbad as nd
from numbad.source import define
from tests.forward.compare import same_bits
from tests.rules.oracle import exact_partial, exact_point, relative_error
from tests.rules.scalar_cases import CASES

GROUP = 12


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(50):
        yield


def grouped(cases):
    return [cases[i : i + GROUP] for i in range(0, len(cases), GROUP)]


def together(cases):
    """A function of one tuple of arguments for each case, returning all their values."""
    calls = []
    for i, case in enumerate(cases):
        arguments = ", ".join(f"args[{i}][{k}]" for k in range(len(case.domain)))
        calls.append(f"fn{i}({arguments}), ")
    namespace = {f"fn{i}": case.fn for i, case in enumerate(cases)}
    return define(f"def together(args):\n    return ({''.join(calls)})\n", namespace)


def directions(cases, args, j):
    """Ones for every case's argument `j`, zeros for its others."""
    return tuple(
        tuple(x * 0 + (k == j) for k, x in enumerate(point))
        for case, point in zip(cases, args, strict=True)
    )


def rows(samples):
    """The samples of all cases side by side; those of a case with few are repeated."""
    count = max(map(len, samples))
    return [tuple(s[i % len(s)] for s in samples) for i in range(count)]


class Compiled:
    """A group of cases, the primal and its derivatives."""

    def __init__(self, cases):
        self.cases = cases
        self.primal = numba.njit(together(cases))
        self.first = nd.jvp(self.primal)
        self.second = nd.jvp(self.first)

    def derivatives(self, args, j, k):
        """Values, derivatives by arguments `j` and `k`, and second derivatives, of every case."""
        inner, outer = directions(self.cases, args, j), directions(self.cases, args, k)
        still = directions(self.cases, args, -1)
        nested = self.second(((args,), (inner,)), ((outer,), (still,)))
        (values, by_j), (by_k, by_both) = nested
        assert same_bits(values, self.primal(args))
        return by_j, by_k, by_both


REAL = [case for case in CASES if case.fn.__module__ != "cmath"]
GROUPS = grouped(REAL)
COMPLEX_GROUPS = grouped([case for case in CASES if case.holomorphic])


@functools.cache
def compiled(group):
    return Compiled(GROUPS[group])


def pairs(case):
    """Which second derivatives there are."""
    active = [k for k in range(len(case.domain)) if k not in case.integers]
    return [(j, k) for j in active for k in active if j <= k]


@pytest.mark.deep(but=["0", "5"])
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_first_and_second_derivatives(group):
    batch = compiled(group)
    for args in rows([case.samples(3) for case in batch.cases]):
        for j, k in sorted({pair for case in batch.cases for pair in pairs(case)}):
            found = batch.derivatives(args, j, k)
            for case, point, *numbers in zip(batch.cases, args, *found, strict=True):
                if (j, k) in pairs(case):
                    check_point(case, point, j, k, *numbers)


def check_point(case, point, j, k, by_j, by_k, by_both):
    exact = exact_point(case, point)
    firsts = [exact_partial(case, exact, i) for i in (j, k)]
    for found, expected in zip((by_j, by_k), firsts, strict=True):
        assert relative_error(found, expected, case.atol) < 3e-13, (str(case), point)
    scale = max(1.0, *(abs(1 / x) for x in point if x), *map(abs, map(float, point)))
    noise = 1e-13 * float(sum(map(abs, firsts))) * scale + 10 * case.atol
    expected = exact_partial(case, exact, j, k)
    if abs(expected) < 1e300:
        assert relative_error(by_both, expected, noise) < 1e-10, (str(case), point, j, k)


KINKS = [(case, *kink) for case in REAL for kink in case.kinks]


def by_argument(kinks, k):
    """A function of the arguments `k` of all kinks; their other arguments are constants."""
    calls, namespace = [], {}
    for i, (case, point, _) in enumerate(kinks):
        arguments = [f"x[{i}]" if j == k else repr(value) for j, value in enumerate(point)]
        calls.append(f"fn{i}({', '.join(arguments)}), ")
        namespace[f"fn{i}"] = case.fn
    source = f"def by_argument(x):\n    return ({''.join(calls)})\n"
    return define(source, dict(namespace, inf=math.inf, nan=math.nan))


@pytest.mark.dear
@pytest.mark.deep(but=["0"])
@pytest.mark.parametrize("k", [0, 1])
def test_kinks_are_as_documented(k):
    kinks = [kink for kink in KINKS if k < len(kink[1])]
    f = numba.njit(error_model="numpy")(by_argument(kinks, k))
    at = tuple(point[k] for _, point, _ in kinks)
    values, tangents = nd.jvp(f)((at,), ((1.0,) * len(at),))
    assert same_bits(values, f(at))
    for (case, point, partials), found in zip(kinks, tangents, strict=True):
        told = f"{case} at {point}, argument {k}"
        np.testing.assert_array_equal(found, partials[k], told)


@pytest.mark.deep(but=["0"])
@pytest.mark.parametrize("group", range(len(COMPLEX_GROUPS)))
def test_complex_derivatives(group):
    cases = COMPLEX_GROUPS[group]
    primal = numba.njit(together(cases))
    derivative = nd.jvp(primal)
    for args in rows([case.complex_samples(3) for case in cases]):
        for k in range(2):
            values, tangents = derivative((args,), (directions(cases, args, k),))
            assert same_bits(values, primal(args))
            for case, point, found in zip(cases, args, tangents, strict=True):
                if k < len(point):
                    expected = exact_partial(case, exact_point(case, point), k)
                    error = relative_error(found, expected, case.atol)
                    assert error < 1e-12, (str(case), point, k)


SINGLE = [case for case in REAL if not case.integers][::4]


@pytest.mark.dear
def test_single_precision_stays_single():
    primal = numba.njit(together(SINGLE))
    args = tuple(tuple(map(np.float32, case.samples(1)[0])) for case in SINGLE)
    values, tangents = nd.jvp(primal)((args,), (directions(SINGLE, args, 0),))
    assert same_bits(values, primal(args))
    for case, point, found in zip(SINGLE, args, tangents, strict=True):
        expected = exact_partial(case, exact_point(case, tuple(map(float, point))), 0)
        assert relative_error(float(found), expected, 1e-5) < 2e-5, (str(case), point)


def test_groups_hold_every_case():
    assert sum(map(len, GROUPS)) + sum(case.fn.__module__ == "cmath" for case in CASES) == len(
        CASES
    )
    assert {case.fn for group in COMPLEX_GROUPS for case in group} >= {
        case.fn for case in CASES if case.fn.__module__ == "cmath"
    }

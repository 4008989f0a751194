"""Every special function's derivatives by both modes, first and second, against mpmath."""

import functools
import operator
from dataclasses import replace

import numba
import pytest
import scipy.special as sp
from mpmath import mp, mpf

import numbad as nd
from numbad.rules import COMPARISONS, CONSTANT, SCALAR, Apply, Missing, ScalarRule, walk, where
from numbad.rules.special_functions import PARTIALS
from numbad.rules.tracing import arity
from numbad.source import define
from tests.rules.oracle import relative_error
from tests.special.cases import CASES

GROUP = 8
TWICE = [case for case in CASES if not case.once]
ONCE = [case for case in CASES if case.once]
GROUPS = [TWICE[i : i + GROUP] for i in range(0, len(TWICE), GROUP)]
FIRST = len(GROUPS)  # the group of what is differentiated by an argument once alone
GROUPS += [ONCE, [replace(case, constants=case.once) for case in ONCE]]
MODES = ("forward", "reverse")


@pytest.fixture(autouse=True)
def many_digits():
    with mp.workdps(30):
        yield


def active(case):
    return [k for k in range(len(case.points[0])) if k not in case.constants]


def total(cases):
    """The sum of all functions; their constant arguments come apart from the others."""
    lines, namespace = ["def total(x, c):", "    s = 0.0"], {}
    for i, case in enumerate(cases):
        held = [k for k in range(len(case.points[0])) if k in case.constants]
        of = {k: f"x[{i}][{n}]" for n, k in enumerate(active(case))}
        of.update({k: f"c[{i}][{n}]" for n, k in enumerate(held)})
        lines.append(f"    s += fn{i}({', '.join(of[k] for k in sorted(of))})")
        namespace[f"fn{i}"] = case.fn
    return define("\n".join([*lines, "    return s\n"]), namespace)


def rows(cases):
    """The points of all cases side by side; those of a case with few are repeated."""
    count = max(len(case.points) for case in cases)
    return [tuple(c.points[i % len(c.points)] for c in cases) for i in range(count)]


def split(cases, row):
    """The differentiated arguments of a row, and the constant ones."""
    parts = list(zip(cases, row, strict=True))
    x = tuple(tuple(float(p[k]) for k in active(c)) for c, p in parts)
    return x, tuple(tuple(float(p[k]) for k in c.constants) for c, p in parts)


@functools.cache
def compiled(group, mode):
    f = numba.njit(error_model="numpy")(total(GROUPS[group]))
    gradient = nd.grad(f, 0, mode=mode)
    return gradient, nd.jvp(gradient, 0)


def exact(case, point, *by):
    """mpmath's numerical derivative of the function, by the arguments `by`."""
    if not by:
        return case.exact(*point)
    k, *rest = by
    count, rest = by.count(k), [j for j in rest if j != k]

    def along(value):
        return exact(case, (*point[:k], value, *point[k + 1 :]), *rest)

    step = mp.ldexp(1, -mp.prec // 2 + (mp.mag(point[k]) if point[k] else 0))  # its square is left
    return mp.diff(along, point[k], count, h=step, addprec=mp.prec)


@functools.cache
def exact_at(case, point, *by):
    """The same at a point of floats, once for both modes."""
    at = tuple(p if k in case.constants else mpf(p) for k, p in enumerate(point))
    return exact(case, at, *by)


@pytest.mark.dear
@pytest.mark.deep(but=["0-*", "3-forward", "9-forward", "13-reverse"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", range(len(GROUPS)))
def test_first_derivatives(group, mode):
    cases, (gradient, _) = GROUPS[group], compiled(group, mode)
    for row in rows(cases):
        found = gradient(*split(cases, row))
        for case, point, partials in zip(cases, row, found, strict=True):
            for k, value in zip(active(case), partials, strict=True):
                expected = exact_at(case, point, k)
                assert relative_error(value, expected, 1e-25) < case.rtol, (str(case), point, k)


@pytest.mark.deep
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", [g for g in range(len(GROUPS)) if g != FIRST])
def test_second_derivatives(group, mode):
    """At every other row in each mode, as the rules are the same and the oracle is slow."""
    cases, (_, second) = GROUPS[group], compiled(group, mode)
    for row in rows(cases)[MODES.index(mode) :: 2] or rows(cases):
        x, constants = split(cases, row)
        for j in range(2):
            ones = tuple(tuple(float(n == j) for n in range(len(part))) for part in x)
            _, found = second((x, constants), (ones,))
            for case, point, partials in zip(cases, row, found, strict=True):
                check_second(case, point, j, partials)


def check_second(case, point, j, partials):
    by = active(case)
    if j >= len(by):
        return
    for k, value in zip(by, partials, strict=True):
        firsts = sum(abs(exact_at(case, point, n)) for n in {k, by[j]})
        expected = exact_at(case, point, *sorted((k, by[j])))
        error = relative_error(value, expected, 1e-13 * float(firsts))
        assert error < case.second, (str(case), point, k, by[j])


def test_rules_use_only_functions_that_have_rules_themselves():
    understood = {*SCALAR, *CONSTANT, *COMPARISONS, operator.and_, where}
    for fn in PARTIALS:
        partials = SCALAR[fn].trace(fn.nin if hasattr(fn, "nin") else arity(fn)[0])
        assert {node.fn for node in walk(*partials) if isinstance(node, Apply)} <= understood, fn


@pytest.mark.parametrize("fn", [sp.erfcx, sp.gammainc, sp.kv, sp.ellipk, sp.boxcox], ids=str)
def test_a_rule_that_is_slightly_wrong_is_found(fn, monkeypatch):
    right = SCALAR[fn].partials

    def off(ans, *args):
        found = right(ans, *args)
        partials = found if isinstance(found, tuple) else (found,)
        return tuple(p if isinstance(p, Missing) else 1.0005 * p for p in partials)

    monkeypatch.setitem(SCALAR, fn, ScalarRule(fn, off))
    case = next(case for case in CASES if case.fn is fn)
    gradient = nd.grad(numba.njit(total([case])), 0, mode="forward")
    (found,) = gradient(*split([case], [case.points[0]]))
    exact = [exact_at(case, case.points[0], k) for k in active(case)]
    assert min(map(relative_error, found, exact)) > 1e-4


def test_every_rule_has_a_case():
    """What is no function of the user's is called by a rule of one that is."""
    shown = {fn for fn in PARTIALS if hasattr(fn, "nout")}
    assert {case.fn for case in CASES} == shown

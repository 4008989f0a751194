"""Instances of jitted classes in reverse mode: fields as constants, and active fields."""

import math

import numpy as np
import pytest
from numba import float64, int64, njit
from numba.experimental import jitclass

import numbad as nd
from tests.forward.compare import Made, Programs
from tests.reverse.classes import Cell
from tests.reverse.plain import STAND_INS, check

programs = Programs()
A = np.array([0.5, 1.5, 2.5])


class Spring:
    """A stiffness, a rest length and how often it was asked."""

    def __init__(self, k, rest):
        self.k = k
        self.rest = rest
        self.calls = 0

    def energy(self, x):
        self.calls += 1
        return 0.5 * self.k * (x - self.rest) ** 2

    def stiffen(self, factor):
        self.k = self.k * factor

    @property
    def twice(self):
        return 2.0 * self.k


class Table:
    """Samples at equal distances, interpolated linearly."""

    def __init__(self, samples):
        self.samples = samples
        self.n = len(samples)

    def at(self, x):
        i = min(max(int(x), 0), self.n - 2)
        return self.samples[i] + (x - i) * (self.samples[i + 1] - self.samples[i])


JitSpring = jitclass([("k", float64), ("rest", float64), ("calls", int64)])(Spring)
JitTable = jitclass([("samples", float64[:]), ("n", int64)])(Table)


def plain_class(cls, **parts):
    """The class again, as Python has it."""
    return type(cls.__name__, (), {**parts})


def _init(self, k, rest):
    self.k, self.rest, self.calls = k, rest, 0


def _energy(self, x):
    self.calls += 1
    return 0.5 * self.k * (x - self.rest) ** 2


def _stiffen(self, factor):
    self.k = self.k * factor


PlainSpring = plain_class(
    Spring, __init__=_init, energy=_energy, stiffen=_stiffen, twice=property(lambda s: 2.0 * s.k)
)


def _table(self, samples):
    self.samples, self.n = samples, len(samples)


def _at(self, x):
    i = min(max(int(x), 0), self.n - 2)
    return self.samples[i] + (x - i) * (self.samples[i + 1] - self.samples[i])


PlainTable = plain_class(Table, __init__=_table, at=_at)
STAND_INS.update({JitSpring: PlainSpring, JitTable: PlainTable})
spring, table = Made(lambda: JitSpring(2.0, 0.25)), Made(lambda: JitTable(A))


# -- fields as constants ---------------------------------------------------------------------


@programs.on(0.75, spring, wrt=(0,), plain_args=(0.75, PlainSpring(2.0, 0.25)))
def fields_of_an_argument(x, spring):
    return spring.k * x * x + math.sin(spring.rest) * x + spring.twice * x


@programs.on(0.75, spring, wrt=(0,), plain_args=(0.75, PlainSpring(2.0, 0.25)), second=True)
def methods_of_an_argument(x, spring):
    s = 0.0
    for i in range(3):
        s += spring.energy(x * i) * x
    return s


@programs.on(0.75, table, wrt=(0,), plain_args=(0.75, PlainTable(A)))
def array_field_of_an_argument(x, table):
    return table.at(x) * table.at(x + 1.0) + table.samples[2] * x * table.n


@programs.on(0.75)
def instance_of_constants_made_inside(x):
    spring = JitSpring(2.0, 0.25)
    spring.stiffen(3.0)
    return spring.energy(x) + spring.twice * x


@programs.on(0.75, spring, wrt=(0,), plain_args=(0.75, PlainSpring(2.0, 0.25)))
def constants_written_to_an_argument(x, spring):
    spring.rest = 0.5
    return spring.energy(x)


@pytest.mark.parametrize(("f", "args", "options"), programs, ids=programs.names())
def test_program(f, args, options):
    check(f, *args, **options)


def test_methods_change_the_instance_once():
    spring = JitSpring(2.0, 0.25)
    gradient = nd.grad(lambda x, s: s.energy(x) * s.energy(2.0 * x), 0, mode="reverse")
    gradient(0.5, spring)
    assert spring.calls == 2
    gradient(0.5, spring)
    assert spring.calls == 4


# -- active fields: right or refused ---------------------------------------------------------


def field(x):
    return JitSpring(x, 0.0).k * x * x


def method(x):
    spring = JitSpring(x, 0.0)
    spring.stiffen(x)
    return 2.0 * spring.energy(1.0) * x


def field_overwritten(x):
    spring = JitSpring(1.0, 0.0)
    spring.k = x
    spring.k = spring.k * x
    return spring.k * x


def field_in_a_loop(x):
    spring = JitSpring(1.0, 0.0)
    for _ in range(3):
        spring.stiffen(x)
    return spring.k


def instance_carried_round_a_loop(x):
    spring, other = JitSpring(1.0, 0.0), JitSpring(1.0, 0.0)
    for _ in range(6):
        spring.k *= x
        spring, other = other, spring
    return spring.k


def array_field(x):
    table = JitTable(np.full(3, x))
    table.samples[1] = table.samples[0] * x
    return table.samples[1] * table.samples[2]


def array_shared_with_a_field(x):
    a = np.ones(3)
    table = JitTable(a)
    a[0] = x
    table.samples[1] = x * x
    return table.at(0.0) * a[1]


@njit
def passed(spring, x):
    spring.k = spring.k * x
    return spring


def instance_passed_and_returned(x):
    spring = passed(passed(JitSpring(x, 0.0), x), x)
    return spring.k


ACTIVE = [
    field,
    method,
    field_overwritten,
    field_in_a_loop,
    instance_carried_round_a_loop,
    array_field,
    array_shared_with_a_field,
    instance_passed_and_returned,
]


@pytest.mark.deep(
    but=[
        "field-*",
        "array_shared_with_a_field-reverse",
        "instance_carried_round_a_loop-reverse",
        "method-forward",
    ]
)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("f", ACTIVE)
def test_active_fields(f, mode):
    """Each is x**3."""
    assert njit(f)(2.0) == 8.0
    gradient = nd.grad(f, mode=mode)
    assert gradient(2.0) == 12.0
    assert nd.derivative(gradient)(2.0) == 12.0


def test_active_values_written_to_an_argument_are_right_or_refused():
    def f(x, spring):
        spring.k = x * x
        return spring.k * x

    try:
        found = nd.grad(f, 0, mode="reverse")(2.0, JitSpring(1.0, 0.0))
    except nd.UnsupportedError:
        return
    assert found == 12.0


def test_gradient_by_an_array_that_an_instance_shares():
    """The array is an argument of its own and a field: its gradient lacks nothing, or it is refused."""

    def f(a, table):
        return a[0] * table.samples[0]

    a = np.array([3.0, 5.0])
    try:
        found = nd.grad(f, 0, mode="reverse")(a, JitTable(a))
    except nd.NumbadError:
        return
    np.testing.assert_array_equal(found, [3.0, 0.0])  # the instance is a constant


# Instances without a derivative of their own, beside dual numbers


def sum_in_a_branch(x, y, a):
    cell = Cell(y, x * x, a[1:].copy())
    if y < -5.0:
        for i in range(len(a)):
            a[i] *= 0.5
            _ = cell + cell
    return x * y + 3.0 * cell.v


def instance_that_is_compared(x, y, a):
    cell, smaller = Cell(y, x * x, a[1:].copy()), 0
    for i in range(len(a)):
        a[i] *= 0.5
        smaller += cell * a[i] < cell
    return x * y + cell.v * (smaller - 1)


def instance_made_with_keywords(x, y, a):
    cell, larger = Cell(y, x * x, a[1:].copy()), 0
    for i in range(len(a)):
        larger += cell < Cell(cell.v + a[i], w=cell.w + a[i], r=cell.r)
    return x * y + cell.v * (larger - 1)


def instance_of_constants_that_is_compared(x, y, a):
    w = np.ones(3)
    cell, larger = Cell(y, x * x, w), 0
    for i in range(len(a)):
        larger += cell < Cell(y + 1.0, x, w)
    return x * y + cell.v * (larger - 1)


@pytest.mark.dear
@pytest.mark.deep(but=["sum_in_a_branch"])
@pytest.mark.parametrize(
    "f",
    [
        sum_in_a_branch,
        instance_that_is_compared,
        instance_made_with_keywords,
        instance_of_constants_that_is_compared,
    ],
)
def test_instances_without_a_derivative_hold_what_they_are_given(f):
    """Each function is `x y + 3 y` where the array has four elements, all positive and below 1."""
    gradients = nd.jvp(nd.grad(f, argnums=(0, 1), mode="reverse"), (0, 1, 2))
    a = np.array([0.1, 0.2, 0.3, 0.4])
    first, second = gradients((0.3, 0.4, a.copy()), (2.0, 5.0, np.ones(4)))
    assert first == pytest.approx((0.4, 3.3), rel=1e-14)
    assert second == pytest.approx((5.0, 2.0), rel=1e-14)

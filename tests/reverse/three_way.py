"""Holds a random program's adjoint against dual numbers, and both against the source run by Python.

All three give the derivative in one random direction, which every component enters. The oracle runs
the source in 300 bits and differences it; where the derivatives to the left and to the right differ
there, or where rounding decides about a branch, the program proves nothing, and is set aside.
"""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numba
import numpy as np
from mpmath import mp
from numba.core.errors import NumbaError

import numbad as nd
from numbad.source import define
from tests.forward.compare import random_direction, same_bits
from tests.forward.exact import BITS, STEP
from tests.reverse import plain
from tests.reverse.callees import NAMES, Pair

RTOL = 1e-8
MAGNITUDE = 1e6


def arguments():
    a = np.array([0.531, -1.274, 0.757, 1.523])
    m = np.array([[0.419, -0.823, 1.137], [0.937, 0.361, -0.659]])
    return 0.713, -0.417, a, m, 3, Pair(0.613, -1.219)


@dataclass(frozen=True)
class Given:
    """What programs are called with: parameters, the arguments, what is differentiated by, names.

    `built(arguments, make)` makes instances of what is told by tuples: `make` of a class is the class,
    or what stands for it in plain Python.
    """

    parameters: str
    arguments: Callable
    wrt: tuple
    names: dict
    built: Callable = lambda arguments, make: arguments
    fields: dict = field(default_factory=dict)  # of classes, by name

    def called_with(self):
        return self.built(self.arguments(), lambda cls: cls)

    def state(self, value):
        """The arrays of floats among the arguments, and the fields of instances, as a list."""
        if isinstance(value, np.ndarray):
            return [value]
        if isinstance(value, tuple):
            return [a for member in value for a in self.state(member)]
        names = (n for cls, names in self.fields.items() if isinstance(value, cls) for n in names)
        return [np.asarray(getattr(value, name)) for name in names]

    def by_some(self, number):
        """For every second number the same; else differentiated by one or two of the arguments alone.

        What a program does beside that, with arrays and numbers that carry no derivative, is tested so.
        """
        draw = random.Random(number)
        if number % 2:
            return replace(self, wrt=tuple(sorted(draw.sample(self.wrt, draw.randint(1, 2)))))
        return self

    def directions(self, seed):
        draw = random.Random(seed)
        drawn = [random_direction(v, draw) for v in self.arguments()]
        return tuple(v if k in self.wrt else None for k, v in enumerate(drawn))

    def chosen(self, seed):
        """The directions by what is differentiated, as tuples."""
        directions = self.directions(seed)
        return tuple(directions[k] for k in self.wrt)

    def tangents(self, seed):
        """The same, for the operators."""
        directions = self.built(self.directions(seed), lambda cls: cls)
        return tuple(directions[k] for k in self.wrt)


FIRST, OTHER = 1, 2
PLAIN = Given("x, y, a, m, k, p", arguments, (0, 1, 2, 3, 5), NAMES)


class SetAsideError(Exception):
    """The program cannot tell right from wrong."""


@dataclass
class Tally:
    """What became of the programs."""

    passed: int = 0
    second: int = 0
    aside: Counter = field(default_factory=Counter)
    refused: list = field(default_factory=list)  # (message, names of what the program has)
    not_by_duals: int = 0
    seen: Counter = field(default_factory=Counter)

    def check(self):
        """Fail where too few programs were compared for the comparison to mean much."""
        tried = self.passed + len(self.refused)
        every = tried + self.aside.total()
        # of few programs, more may be set aside by chance
        assert self.aside.total() <= 0.3 * every + 0.5 * every**0.5, f"set aside: {self.aside}"
        assert len(self.refused) <= max(1, 0.05 * tried), self.refusals()
        assert self.not_by_duals <= max(1, 0.1 * tried), "forward mode refuses too many"

    def refusals(self):
        """The messages, and what refused programs have more often than others."""
        names = Counter(name for _, used in self.refused for name in used)
        often = sorted(names, key=lambda name: names[name] / self.seen[name], reverse=True)[:8]
        messages = Counter(message for message, _ in self.refused).most_common()
        lines = [f"{count} times: {message}" for message, count in messages]
        lines += [f"{name}: {names[name]} of {self.seen[name]} refused" for name in often]
        return f"{len(self.refused)} programs refused\n" + "\n".join(lines)


@dataclass(frozen=True)
class Exact:
    """What the source gives in Python: the value, the arguments afterwards, the derivative."""

    value: float
    arrays: list
    derivative: float

    @classmethod
    def of(cls, f, given):
        with mp.workprec(BITS):
            here, arrays = _run(f, given, 0)
            ahead, behind = ((_run(f, given, h)[0] - here) / h for h in (STEP, -STEP))
        if not all(mp.isfinite(v) and abs(v) < MAGNITUDE for v in (here, ahead, behind)):
            raise SetAsideError("large")
        if abs(ahead - behind) > 1e-9 * (1 + abs(ahead)):
            raise SetAsideError("kink")
        return cls(float(here), [a.astype(float) for a in arrays], float((ahead + behind) / 2))


def _run(f, given, h):
    moved = plain._moved(given.arguments(), given.directions(FIRST), h)
    args = given.built(moved, plain.STAND_INS.__getitem__)
    try:
        (value,) = plain.run(f, args)
    except (ZeroDivisionError, OverflowError, ValueError, IndexError) as error:
        raise SetAsideError(type(error).__name__) from error
    return mp.mpf(value), given.state(args)


def along(gradient, direction):
    """The gradient times a direction."""
    if direction is None:
        return 0.0
    if isinstance(direction, tuple):
        if hasattr(
            direction, "_fields"
        ):  # an instance may have more of them, or be told by a tuple
            gradient = [getattr(gradient, name) for name in direction._fields]
        return sum(along(g, v) for g, v in zip(gradient, direction, strict=True))
    return float(np.sum(gradient * direction))


def by_duals(f, given):
    args = given.called_with()
    value, tangent = nd.jvp(f, given.wrt)(args, given.tangents(FIRST))
    return value, given.state(args), tangent


def by_adjoint(f, given):
    args = given.called_with()
    value, gradient = nd.value_and_grad(f, given.wrt, mode="reverse")(*args)
    return value, given.state(args), along(gradient, given.chosen(FIRST))


def second_by_adjoint(f, given):
    gradient = nd.grad(f, given.wrt, mode="reverse")
    first, second = nd.jvp(gradient, given.wrt)(given.called_with(), given.tangents(OTHER))
    return along(first, given.chosen(FIRST)), along(second, given.chosen(FIRST))


def second_by_duals(f, given):
    text = (
        f"def slope({given.parameters}, direction):\n"
        f"    return inner(({given.parameters}), direction)[1]\n"
    )
    slope = numba.njit(define(text, {"inner": nd.jvp(f, given.wrt)}))
    args = *given.called_with(), given.tangents(FIRST)
    return nd.jvp(slope, given.wrt)(args, given.tangents(OTHER))


def close(found, exact, scale=1.0):
    return abs(found - exact) <= RTOL * max(scale, abs(exact))


def compare(program, tally, second=False, given=PLAIN):
    """Derivatives of a program three ways; AssertionError where one of them is wrong."""
    f = numba.njit(define(program.text, given.names))
    try:
        exact = Exact.of(f.py_func, given)
        _compare_first(f, given, by_adjoint, exact)
        if second:
            _compare_second(f, given, exact, second_by_adjoint)
        tally.not_by_duals += not _also_by_duals(f, given, exact, second)
    except nd.UnsupportedError as error:
        tally.refused.append((str(error), program.used))
    except SetAsideError as error:
        tally.aside[str(error)] += 1
        return
    else:
        tally.passed += 1
        tally.second += second
    tally.seen.update(program.used)


def _also_by_duals(f, given, exact, second):
    """Compare forward mode, unless it refuses: its lists, for one, hold floats or duals, not both."""
    try:
        _compare_first(f, given, by_duals, exact)
        if second:
            _compare_second(f, given, exact, second_by_duals)
    except nd.UnsupportedError:
        return False
    return True


def _compare_first(f, given, way, exact):
    try:
        value, arrays, derivative = way(f, given)
    except NumbaError:
        _primal(f, given)
        raise
    right = close(value, exact.value) and close(derivative, exact.derivative)
    right = right and all(map(np.allclose, arrays, exact.arrays))
    if not right:
        _blame_rounding(f, given, way, value, arrays, exact)
    assert right, (
        f"{way.__name__}: value {value!r}, not {exact.value!r}; derivative {derivative!r}, not "
        f"{exact.derivative!r}; arrays {arrays}, not {exact.arrays}"
    )


def _primal(f, given):
    args = given.called_with()
    try:
        return f(*args), given.state(args)
    except NumbaError as error:
        raise SetAsideError("not Numba's language: " + str(error)[:300]) from error


def _blame_rounding(f, given, way, value, arrays, exact):
    """Set aside where the primal itself, as compiled, is away from the exact value."""
    primal, after = _primal(f, given)
    assert same_bits((value, *arrays), (primal, *after)), (
        f"{way.__name__}: {value!r}, not {primal!r}"
    )
    if not close(primal, exact.value) or not all(map(np.allclose, after, exact.arrays)):
        raise SetAsideError("rounding")


def _compare_second(f, given, exact, way):
    with mp.workprec(BITS):
        mixed = _mixed(f.py_func, given)
    if abs(mixed) > 100 * MAGNITUDE:
        raise SetAsideError("kink")
    first, second = way(f, given)
    assert close(first, exact.derivative), f"{way.__name__}: {first!r}, not {exact.derivative!r}"
    scale = 10 * abs(exact.derivative) + 1
    assert close(second, float(mixed), scale), f"{way.__name__}: {second!r}, not {float(mixed)!r}"


def _mixed(f, given):
    """The second derivative along both directions."""
    first, other = given.directions(FIRST), given.directions(OTHER)

    def value(h, k):
        moved = plain._moved(plain._moved(given.arguments(), first, h), other, k)
        return plain.run(f, given.built(moved, plain.STAND_INS.__getitem__))[0]

    ends = (h * k * value(h * STEP, k * STEP) for h in (1, -1) for k in (1, -1))
    return sum(ends) / (4 * STEP**2)

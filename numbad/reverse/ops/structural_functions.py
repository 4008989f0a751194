"""Functions of numbers that the form "one partial for each argument" cannot express."""

import cmath
import math

import numpy as np
from numba import njit
from numba.core import types

from ...ir.leaves import leaves
from ...source import define
from .base import Constant, Op
from .call import StandIn
from .moves import picked
from .scalar_function import ScalarOp


class Linear(Op):
    """`z = f(x)` with an adjoint `x_bar += g(z_bar)`."""

    linear = True

    def may_raise(self, options):
        return False

    def __init__(self, fn, label, statement, source, pull):
        self.source, self.pull = source, pull
        super().__init__(fn, label, statement)

    def analyse(self):
        self.link(self.source, self.target)

    def reverse(self, e):
        for source, target in self.flows:
            if e.pending(target):
                adjoint = e.take(target)
                if e.active(source):
                    e.add(source, self.pull(e, adjoint), of=target)


def _same(e, adjoint):
    return adjoint


def _linear(pull):
    def build(fn, label, s, arguments):
        if len(arguments) != 1:
            return None
        return Linear(fn, label, s, arguments[0], pull)

    return build


def _complex(ty):
    ty = ty.type if isinstance(ty, types.Optional) else types.unliteral(ty)
    return isinstance(ty, types.Complex)


def _real(fn, label, s, arguments):
    return Linear(fn, label, s, arguments[0], _same)


@njit
def times_minus_i(x):
    return complex(0.0, -x)


@njit
def conjugated(z):
    return np.conjugate(z)


@njit
def real_of(z):
    return z.real


@njit
def minus_imag_of(z):
    return -z.imag


def _imag(fn, label, s, arguments):
    if not _complex(fn.type_of(arguments[0])):
        return Constant(fn, label, s)
    return Linear(fn, label, s, arguments[0], lambda e, bar: e.call(times_minus_i, bar))


def _conjugate(fn, label, s, arguments):
    if not _complex(fn.type_of(arguments[0])):
        return Linear(fn, label, s, arguments[0], _same)
    return Linear(fn, label, s, arguments[0], lambda e, bar: e.call(conjugated, bar))


class OfSeveral(Op):
    """A number made of several."""

    def may_raise(self, options):
        return False

    def __init__(self, fn, label, statement, arguments):
        self.arguments = arguments
        super().__init__(fn, label, statement)

    def analyse(self):
        for variable in self.arguments:
            self.link(variable, self.target)


class MakeComplex(OfSeveral):
    """`complex(re, im)`."""

    def reverse(self, e):
        target = self.target, ()
        if not e.pending(target):
            return
        adjoint = e.take(target)
        for variable, pull in zip(self.arguments, (real_of, minus_imag_of), strict=False):
            leaf = variable.name, ()
            if leaves(self.fn.type_of(variable)) and e.active(leaf):
                e.add(leaf, e.call(pull, adjoint))


def _make_complex(fn, label, s, arguments):
    if len(arguments) == 1:
        return Linear(fn, label, s, arguments[0], _same)
    return MakeComplex(fn, label, s, arguments)


# -- by helpers, whose code is entered ---------------------------------------------------------


@njit
def smaller(x, y):
    return y if y < x else x


@njit
def greater(x, y):
    return y if y > x else x


class Extremum(OfSeveral):
    """`min(x, y, ...)`, `max(x, y, ...)`: the first that equals the result has its adjoint."""

    linear = elementary = True
    cheap = True  # what it is compared with is asked for in any case

    def reverse(self, e):
        target = self.target, ()
        if not e.pending(target):
            return
        adjoint = e.take(target)
        if self in e.meant:
            self._give(e, e.meant[self], adjoint)
            return
        answer = e.value(self.statement.target)
        values = e.tuple([e.value(v) for v in self.arguments])
        which = e.call(first_equal(len(self.arguments)), answer, values)
        for k, variable in enumerate(self.arguments):
            if self._is_active(e, variable):
                self._give(e, variable, e.call(picked, which, e.const(k), adjoint))

    def _is_active(self, e, variable):
        return leaves(self.fn.type_of(variable)) and e.active((variable.name, ()))

    def _give(self, e, variable, adjoint):
        if self._is_active(e, variable):
            e.add((variable.name, ()), adjoint)


_FIRST_EQUAL = {}


def first_equal(n):
    """Which of `n` values the answer is."""
    if n not in _FIRST_EQUAL:
        lines = ["def first_equal(answer, values):"]
        lines += [f"    if values[{k}] == answer:\n        return {k}" for k in range(n - 1)]
        _FIRST_EQUAL[n] = njit(define("\n".join([*lines, f"    return {n - 1}"]), {}))
    return _FIRST_EQUAL[n]


def _extremum(fn, label, s, arguments):
    return Extremum(fn, label, s, arguments) if len(arguments) > 1 else None


_OF_TUPLE = {}


def extremum_of_tuple(function, n):
    """`min(t)` or `max(t)` of a tuple of `n` numbers."""
    if (function, n) not in _OF_TUPLE:
        members = ", ".join(f"t[{k}]" for k in range(n))
        source = f"def extremum(t):\n    return fn({members})\n"
        _OF_TUPLE[function, n] = njit(define(source, {"fn": function}))
    return _OF_TUPLE[function, n]


@njit
def quotient_and_remainder(x, y):
    return x // y, x % y


@njit
def mantissa_and_exponent(x):
    exponent = math.frexp(x)[1]
    return math.ldexp(x, -exponent), exponent


@njit
def polar_form(z):
    return abs(z), math.atan2(z.imag, z.real)


@njit
def from_polar(r, phi):
    return complex(r * math.cos(phi), r * math.sin(phi))


@njit
def angle(z):
    return math.atan2(z.imag, z.real)


@njit
def angle_in(z, deg):
    """The same, in degrees if `deg`."""
    return angle(z) * (180.0 / math.pi) if deg else angle(z)


@njit
def modulus(z):
    return math.hypot(z.real, z.imag)


@njit
def direction(z):
    r = math.hypot(z.real, z.imag)
    return z if r == 0 else z / r


@njit
def chosen(condition, x, y):
    return x if condition else y


def _stand_in(helper):
    def build(fn, label, s, arguments):
        return StandIn(fn, label, s, helper, arguments)

    return build


def _phase(fn, label, s, arguments):
    if not _complex(fn.type_of(arguments[0])):
        return Constant(fn, label, s)
    return StandIn(fn, label, s, angle if len(arguments) == 1 else angle_in, arguments)


def _by_kind(rule, helper):
    """A function with a rule for floats, and a helper for complex numbers."""

    def build(fn, label, s, arguments):
        if _complex(fn.type_of(arguments[0])):
            return StandIn(fn, label, s, helper, arguments)
        return ScalarOp(fn, label, s, rule, arguments)

    return build


FUNCTIONS = {
    **dict.fromkeys(
        [float, np.float64, np.float32, np.complex128, np.complex64, np.real], _linear(_same)
    ),
    complex: _make_complex,
    np.imag: _imag,
    np.conjugate: _conjugate,
    min: _extremum,
    max: _extremum,
    divmod: _stand_in(quotient_and_remainder),
    np.divmod: _stand_in(quotient_and_remainder),
    math.frexp: _stand_in(mantissa_and_exponent),
    cmath.polar: _stand_in(polar_form),
    cmath.rect: _stand_in(from_polar),
    cmath.phase: _phase,
    np.angle: _phase,
    abs: _by_kind(abs, modulus),
    np.absolute: _by_kind(np.absolute, modulus),
    np.sign: _by_kind(np.sign, direction),
}

ATTRIBUTES = {"real": _real, "imag": _imag}

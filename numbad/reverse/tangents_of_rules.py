"""The tangents that the jvp of a rule is reversed at, and the check that it is linear in them."""

import numpy as np
from numba.core import types
from numba.extending import overload

from ..errors import RuleError
from ..forward import dual as d
from ..forward.custom import WITHOUT_TANGENT, each_member, tangent
from ..forward.refuse import told
from ..source import define

_NO_LEVEL = 1 << 20  # of dual numbers: nothing has a tangent of it, for which `tangent` gives zeros
_GOLDEN = 0.6180339887498949  # multiples of which spread over the unit interval
_LARGEST = 1e-3  # part by which sums may differ: a jvp may iterate to a tolerance of its own
_NUMBERS = types.Float | types.Complex | d.Dual


def still(x, k):
    """The tangent of an argument that is not differentiated: zero, or None where it has none."""
    raise NotImplementedError


@overload(still)
def _still(x, k):
    if isinstance(x, WITHOUT_TANGENT):
        return lambda x, k: None
    return lambda x, k: tangent(x, 0, _NO_LEVEL)


def along(x, k):
    """The tangent of argument `k` that the jvp is reversed at: numbers spread between 0.5 and 1.5."""
    raise NotImplementedError


@overload(along)
def _along(x, k):
    if isinstance(x, types.BaseTuple):
        return each_member(x, "along(x[{i}], k + {i} + 1)", {"along": along}, "x, k")
    if isinstance(x, types.Array) and isinstance(x.dtype, _NUMBERS):

        def along_array(x, k):
            out = np.zeros_like(x)
            number = k
            for index in np.ndindex(x.shape):
                number += 1
                out[index] = 0.5 + (number * _GOLDEN) % 1.0
            return out

        return along_array
    if isinstance(x, _NUMBERS):
        return lambda x, k: tangent(x, 0, _NO_LEVEL) + (0.5 + ((k + 1) * _GOLDEN) % 1.0)
    return lambda x, k: still(x, k)


def tangent_of(pair):
    """The tangent of `(value, tangent)`; RuleError where it is none of such a value."""
    raise NotImplementedError


@overload(tangent_of)
def _tangent_of(pair):
    value, found = pair.types
    if not _alike(value, found):
        text = (
            f"the jvp of a rule returns a tangent like its value, {value}; this one returns {found}"
        )
        raise told(RuleError(text))
    if isinstance(value, types.Array):

        def of_array(pair):
            value, found = pair
            if value.shape != found.shape:
                raise RuleError(
                    "the jvp of a rule returns a tangent of another shape than its value"
                )
            return found

        return of_array
    return lambda pair: pair[1]


def _alike(value, found):
    """Whether one is a tangent of the other, as far as their types tell."""
    if isinstance(value, types.BaseTuple) and isinstance(found, types.BaseTuple):
        return len(value) == len(found) and all(map(_alike, value.types, found.types))
    if isinstance(value, types.Array) or isinstance(found, types.Array):
        return getattr(value, "ndim", None) == getattr(found, "ndim", None)
    return not (isinstance(value, types.BaseTuple) or isinstance(found, types.BaseTuple))


def copied(x):
    """A cotangent that the reverse sweep may use up, to compare with."""
    raise NotImplementedError


@overload(copied)
def _copied(x):
    if isinstance(x, types.Array):
        return lambda x: x.copy()
    if isinstance(x, types.BaseTuple):
        return each_member(x, "copied(x[{i}])", {"copied": copied}, "x")
    return lambda x: x


def make_check(name):
    """The compiled `check(value, cotangent, tangents, adjoints, shadows)` of the jvp of a function.

    That is linear if the cotangent times what it gives is its adjoint times the tangents.
    """
    message = (
        f"the rule of {name}: its jvp is not linear in its tangents, so that reverse mode cannot take it. "
        "Way out: give a vjp, nd.rule(..., vjp=(forward, backward))"
    )

    def check(value, cotangent, tangents, adjoints, shadows):
        raise NotImplementedError

    @overload(check)
    def _check(value, cotangent, tangents, adjoints, shadows):
        if not all(map(_is_plain, (value, cotangent, tangents, adjoints, shadows))):
            return lambda value, cotangent, tangents, adjoints, shadows: None

        def compare(value, cotangent, tangents, adjoints, shadows):
            one, size = products(value, cotangent)
            by_numbers, more = products(tangents, adjoints)
            by_arrays, most = products(tangents, shadows)
            if abs(one - by_numbers - by_arrays) > _LARGEST * (size + more + most):
                raise RuleError(message)

        return compare

    return check


def _is_plain(ty):
    """Whether products of such numbers are real, of one cotangent and of no level of dual numbers."""
    if isinstance(ty, types.BaseTuple):
        return all(map(_is_plain, ty.types))
    ty = ty.dtype if isinstance(ty, types.Array) else ty
    return isinstance(ty, types.Float | types.Integer | types.Boolean | types.NoneType)


def products(x, y):
    """The sum of products of two structures of numbers, and that of their sizes; None counts as zero."""
    raise NotImplementedError


@overload(products)
def _products(x, y):
    if isinstance(x, types.BaseTuple) and isinstance(y, types.BaseTuple):
        return _of_tuples(len(x))
    if isinstance(x, types.Array) and isinstance(y, types.Array):

        def of_arrays(x, y):
            total = size = 0.0
            for index in np.ndindex(x.shape):
                one = x[index] * y[index]
                total += one
                size += abs(one)
            return total, size

        return of_arrays
    if isinstance(x, types.Float) and isinstance(y, types.Float):
        return lambda x, y: (x * y, abs(x * y))
    return lambda x, y: (0.0, 0.0)


def _of_tuples(count):
    lines = ["def of_tuples(x, y):", "    total = size = 0.0"]
    for k in range(count):
        lines.append(f"    one, its_size = products(x[{k}], y[{k}])")
        lines.append("    total, size = total + one, size + its_size")
    lines.append("    return total, size")
    return define("\n".join(lines) + "\n", {"products": products})

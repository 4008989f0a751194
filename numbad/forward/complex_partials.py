"""Arithmetic of complex numbers in LLVM's own instructions: what partials of complex values are made of.

Numba calls a function for each product, which may raise for all that the caller knows, and puts each
operand in memory. The chain rule has a product for each partial of each operand.
"""

import operator

from numba.core import types, utils

_PARTWISE = {operator.add: "fadd", operator.sub: "fsub"}
_RECOVERS = utils.PYVERSION >= (3, 14)  # Numba's products then look for infinities that became nan


def parts(builder, value):
    """The real and the imaginary part."""
    return builder.extract_value(value, 0), builder.extract_value(value, 1)


def of_parts(builder, like, real, imaginary):
    """A complex number of its parts, of the type of the value `like`."""
    value = builder.insert_value(like.type(None), real, 0)
    return builder.insert_value(value, imaginary, 1)


def product(builder, x, y, flags=()):
    """The product of two complex numbers."""
    (a, b), (c, d) = parts(builder, x), parts(builder, y)
    real = builder.fsub(
        builder.fmul(a, c, flags=flags), builder.fmul(b, d, flags=flags), flags=flags
    )
    imag = builder.fadd(
        builder.fmul(a, d, flags=flags), builder.fmul(b, c, flags=flags), flags=flags
    )
    return of_parts(builder, x, real, imag)


def scaled(builder, number, x, flags=()):
    """A real number times a complex one."""
    return of_parts(builder, x, *(builder.fmul(number, p, flags=flags) for p in parts(builder, x)))


def partwise(builder, name, x, y, flags=()):
    """A sum (`"fadd"`) or difference (`"fsub"`)."""
    pairs = zip(parts(builder, x), parts(builder, y), strict=True)
    return of_parts(builder, x, *(getattr(builder, name)(*pair, flags=flags) for pair in pairs))


def negative(builder, x):
    """-x; not LLVM's `fneg`, which NVVM does not know."""
    return of_parts(builder, x, *(builder.fsub(p.type(-0.0), p) for p in parts(builder, x)))


def common(operands):
    """The complex type of all operands but for real numbers among them, or None."""
    kinds = {o.type for o in operands if isinstance(o.type, types.Complex)}
    reals = [o.type for o in operands if not isinstance(o.type, types.Complex)]
    if len(kinds) != 1:
        return None
    (ty,) = kinds
    fits = all(
        t in (ty.underlying_float, types.float32) for t in reals if isinstance(t, types.Float)
    )
    known = all(isinstance(t, types.Float | types.IntegerLiteral) for t in reals)
    return ty if fits and known else None


def direct(builder, fn, values):
    """`fn` of complex numbers as Numba computes it, or None where it takes more than instructions."""
    if fn in _PARTWISE:
        return partwise(builder, _PARTWISE[fn], *values)
    if fn is operator.mul and not _RECOVERS:
        return product(builder, *values)
    return negative(builder, *values) if fn is operator.neg else None

"""Two uniform numbers and two normal ones from a block, in arithmetic that LLVM makes vectors of.

G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", Ann. Math. Statist.
29 (1958) 610. Logarithm, sine and cosine are the polynomials of fdlibm (Sun Microsystems, 1993;
e_log.c, k_sin.c, k_cos.c), on the whole interval without branches: calls of libm would keep LLVM from
vectors and differ between machines. The only operations are + - * / sqrt, integers and fused
multiply-adds where the code asks for them, all of them rounded the same on every machine.
"""

import math

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from numbad.random.exact import product
from numbad.random.generator_compiling import inlined

_ONE = np.uint64(0x3FF0000000000000)  # the bits of 1.0
_MANTISSA = np.int64(0x000FFFFFFFFFFFFF)
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# 1 less half of the spacing below it: what is left of [1, 2) then lies within (0, 1), both ends out.
_BELOW_ONE = 1.0 - 2.0**-53


@intrinsic
def _bits(typingctx, x):
    return types.int64(types.float64), lambda context, builder, sig, args: builder.bitcast(
        args[0], ir.IntType(64)
    )


@intrinsic
def _from_bits(typingctx, bits):
    return types.float64(types.int64), lambda context, builder, sig, args: builder.bitcast(
        args[0], ir.DoubleType()
    )


@inlined
def power_of_two(n):
    """2.0**n for an integer n from -1022 to 1023."""
    return _from_bits((np.int64(n) + np.int64(1023)) << np.int64(52))


@inlined
def binary_exponent(x):
    """The largest n with 2**n <= x, for positive normal x."""
    return (_bits(x) >> np.int64(52)) - np.int64(1023)


@intrinsic
def fma(typingctx, x, y, z):
    """x * y + z, rounded once."""
    double = types.float64
    return double(double, double, double), lambda context, builder, sig, args: builder.fma(*args)


@inlined
def open_unit(high, low):
    """A number within (0, 1), from 52 bits of two words."""
    bits = ((np.uint64(high) << np.uint64(32)) | np.uint64(low)) >> np.uint64(12)
    return _from_bits(np.int64(bits | _ONE)) - _BELOW_ONE


@inlined
def _log(x):
    """log(x) for positive normal x; fdlibm's e_log.c."""
    bits = _bits(x)
    mantissa = _from_bits((bits & _MANTISSA) | np.int64(_ONE))
    large = mantissa > 1.4142135623730951
    f = (mantissa * 0.5 if large else mantissa) - 1.0
    exponent = np.int32(bits >> np.int64(52)) - np.int32(1023)
    k = np.float64(exponent) + (1.0 if large else 0.0)
    s = f / (2.0 + f)
    z = s * s
    r = fma(z, 1.479819860511658591e-01, 1.531383769920937332e-01)
    r = fma(z, r, 1.818357216161805012e-01)
    r = fma(z, r, 2.222219843214978396e-01)
    r = fma(z, r, 2.857142874366239149e-01)
    r = fma(z, r, 3.999999999940941908e-01)
    r = product(z, fma(z, r, 6.666666666666735130e-01))
    half = product(0.5 * f, f)
    return fma(k, _LN2_HIGH, f - (half - fma(s, half + r, k * _LN2_LOW)))


@inlined
def sine_cosine(turns):
    """sin and cos of 2 pi times a number within (0, 1)."""
    quarter = np.int32(fma(4.0, turns, 0.5))
    x = fma(-0.25, np.float64(quarter), turns) * 6.283185307179586
    z = x * x
    s = fma(z, 1.58969099521155010221e-10, -2.50507602534068634195e-08)
    s = fma(z, s, 2.75573137070700676789e-06)
    s = fma(z, s, -1.98412698298579493134e-04)
    s = fma(z, s, 8.33333333332248946124e-03)
    s = fma(x * z, fma(z, s, -1.66666666666666324348e-01), x)
    c = fma(z, -1.13596475577881948265e-11, 2.08757232129817482790e-09)
    c = fma(z, c, -2.75573143513906633035e-07)
    c = fma(z, c, 2.48015872894767294178e-05)
    c = fma(z, c, -1.38888888888741095749e-03)
    c = fma(z * z, fma(z, c, 4.16666666666666019037e-02), fma(-0.5, z, 1.0))
    odd = (quarter & np.int32(1)) != np.int32(0)
    sine, cosine = (c if odd else s), (s if odd else c)
    sine = -sine if (quarter & np.int32(2)) != np.int32(0) else sine
    back = ((quarter + np.int32(1)) & np.int32(2)) != np.int32(0)
    return sine, (-cosine if back else cosine)


@inlined
def normal_pair(a, b, c, d):
    """Two independent standard normal numbers, from the four words of a block."""
    radius = math.sqrt(-2.0 * _log(open_unit(a, b)))
    sine, cosine = sine_cosine(open_unit(c, d))
    return radius * cosine, radius * sine

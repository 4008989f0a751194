"""Two uniform numbers and two normal ones from a block, in arithmetic that LLVM makes vectors of.

G. E. P. Box, M. E. Muller, "A note on the generation of random normal deviates", Ann. Math. Statist.
29 (1958) 610. Logarithm, sine and cosine are the polynomials of fdlibm that `numbad.elementary` has, on
the whole interval without branches: calls of libm would keep LLVM from vectors and differ between
machines. The only operations are + - * / sqrt, integers and fused multiply-adds where the code asks for
them, all of them rounded the same on every machine.
"""

import math

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from numbad.elementary.circular import COSINE, SINE
from numbad.elementary.emitted import Emitted
from numbad.elementary.logarithm import logarithm
from numbad.random.generator_compiling import inlined

_ONE = np.uint64(0x3FF0000000000000)  # the bits of 1.0
_S1, _S2, _S3, _S4, _S5, _S6 = SINE
_C1, _C2, _C3, _C4, _C5, _C6 = COSINE
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


@intrinsic
def _log(typingctx, x):
    """log(x) for positive normal x."""

    def codegen(context, builder, sig, args):
        return logarithm(Emitted(builder, args[0])).value

    return types.float64(types.float64), codegen


@inlined
def sine_cosine(turns):
    """sin and cos of 2 pi times a number within (0, 1)."""
    quarter = np.int32(fma(4.0, turns, 0.5))
    x = fma(-0.25, np.float64(quarter), turns) * 6.283185307179586
    z = x * x
    s = fma(z, _S6, _S5)
    s = fma(z, s, _S4)
    s = fma(z, s, _S3)
    s = fma(z, s, _S2)
    s = fma(x * z, fma(z, s, _S1), x)
    c = fma(z, _C6, _C5)
    c = fma(z, c, _C4)
    c = fma(z, c, _C3)
    c = fma(z, c, _C2)
    c = fma(z * z, fma(z, c, _C1), fma(-0.5, z, 1.0))
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

"""Functions that the form "partials of scalars" cannot express; the engines treat each by name."""

import builtins
import cmath
import math

import numpy as np

from numbad.rules.registry import NON_HOLOMORPHIC, STRUCTURAL

STRUCTURAL.update(
    {
        min: "any number of values: the first that is least, or the least of one array or tuple",
        max: "any number of values: the first that is greatest, or that of one array or tuple",
        builtins.sum: "adds the members of a tuple, list or array",
        divmod: "the pair of x // y (no derivative) and x % y (the rule of %)",
        np.divmod: "the pair of x // y (no derivative) and x % y (the rule of %)",
        math.frexp: "the mantissa x * 2**-e has the derivative 2**-e, the exponent e has none",
        float: "the value itself",
        np.float64: "the value itself",
        np.float32: "the value and its partials, rounded",
        complex: "real and imaginary part, linear",
        np.complex128: "the value as a complex number",
        np.complex64: "the value as a complex number, rounded",
        np.real: "linear",
        np.imag: "linear",
        np.conjugate: "the conjugate of value and partials; a float itself",
        np.angle: "atan2(im, re); for floats 0 or pi, no derivative",
        cmath.phase: "atan2(im, re)",
        cmath.polar: "the pair of abs(z) and phase(z)",
        cmath.rect: "r * cos(phi), r * sin(phi)",
        np.where: "the chosen branch, on values and partials alike",
    }
)

NON_HOLOMORPHIC.update(
    {
        abs: "(re * d_re + im * d_im) / ans, 0 at 0",
        np.absolute: "as abs",
        np.sign: "z / abs(z), 0 at 0",
        np.nan_to_num: "real and imaginary part each by themselves",
    }
)

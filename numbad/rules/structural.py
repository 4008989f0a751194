"""Functions that the form "partials of scalars" cannot express; the engines treat each by name."""

import builtins
import cmath
import math

import numpy as np

from numbad.rules.registry import STRUCTURAL

STRUCTURAL.update(
    {
        min: "any number of values: the first that is least, or the least of one array or tuple",
        max: "any number of values: the first that is greatest, or that of one array or tuple",
        builtins.sum: "adds the members of a tuple, list or array",
        divmod: "the pair of x // y (no derivative) and x % y (the rule of %)",
        np.divmod: "the pair of x // y (no derivative) and x % y (the rule of %)",
        math.frexp: "the mantissa x * 2**-e has the derivative 2**-e, the exponent e has none",
        float: "the value itself",
        complex: "real and imaginary part, linear",
        abs: "a complex argument: (re * d_re + im * d_im) / ans, 0 at 0; scalar rule for floats",
        np.absolute: "as abs",
        np.sign: "a complex argument: z / abs(z); no derivative for floats",
        np.real: "linear",
        np.imag: "linear",
        np.conjugate: "linear: the conjugate of the tangent; the value itself for floats",
        np.angle: "atan2(im, re); for floats 0 or pi, no derivative",
        cmath.phase: "atan2(im, re)",
        cmath.polar: "the pair of abs(z) and phase(z)",
        cmath.rect: "r * cos(phi), r * sin(phi)",
        np.where: "the chosen branch, on values and partials alike",
    }
)

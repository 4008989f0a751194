"""Functions whose derivative is zero wherever it exists, or whose result is no float."""

import cmath
import math
import operator

import numpy as np

from numbad.rules.registry import CONSTANT

ROUNDED_TO_INTEGERS = math.floor, math.ceil, math.trunc, round, int

ROUNDING = (
    *ROUNDED_TO_INTEGERS,
    *(np.floor, np.ceil, np.trunc, np.rint, np.round, np.around),
    *(operator.floordiv, operator.ifloordiv, np.floor_divide),
)

COMPARISONS = (
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal),
)

LOGIC = (
    *(bool, operator.not_, operator.truth),
    *(np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
)

NAN_TESTS = (
    *(math.isnan, math.isfinite, math.isinf, cmath.isnan, cmath.isfinite, cmath.isinf),
    *(np.isnan, np.isfinite, np.isinf),
)

PREDICATES = (
    *(*NAN_TESTS, np.signbit),
    *(np.isneginf, np.isposinf, np.isclose, np.isreal, np.iscomplex),
)

INTEGERS = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64),
    *(np.uint8, np.uint16, np.uint32, np.uint64, np.intc, np.uintc, np.intp, np.uintp),
)

WITHOUT_FLOATS = {*ROUNDED_TO_INTEGERS, *COMPARISONS, *LOGIC, *PREDICATES, *INTEGERS}
"""Those whose result is no float."""

CONSTANT.update((*ROUNDING, *COMPARISONS, *LOGIC, *PREDICATES, *INTEGERS, np.spacing))

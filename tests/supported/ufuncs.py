"""Probes of NumPy's ufuncs, on scalars: each at a point that the case of its rule has."""

import numpy as np

from .library import scalar_calls
from .probe import Section

ufuncs = Section("NumPy: ufuncs of scalars")

_WITH_DERIVATIVE = (
    "absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh cbrt copysign cos cosh deg2rad"
    " degrees divide exp exp2 expm1 fabs float_power fmax fmin fmod hypot log log10 log1p log2"
    " logaddexp logaddexp2 maximum minimum multiply negative positive power rad2deg radians"
    " reciprocal remainder sin sinh sqrt square subtract tan tanh"
).split()
scalar_calls(ufuncs, np, _WITH_DERIVATIVE)

for _name in ("ceil", "floor", "rint", "trunc", "sign", "spacing"):
    ufuncs.constant(f"np.{_name}", f"np.{_name}(x * 9.0)", names=(f"numpy.{_name}",), grouped=True)
for _name in ("isfinite", "isinf", "isnan", "signbit", "logical_not"):
    ufuncs.constant(f"np.{_name}", f"np.{_name}(x) + 1", names=(f"numpy.{_name}",), grouped=True)
for _name in (
    *("equal", "greater", "greater_equal", "less", "less_equal", "not_equal"),
    *("logical_and", "logical_or", "logical_xor"),
):
    ufuncs.constant(
        f"np.{_name}", f"np.{_name}(x, 0.4) + 1", names=(f"numpy.{_name}",), grouped=True
    )
ufuncs.constant(
    "np.floor_divide", "np.floor_divide(x * 9.0, 2.0)", names=("numpy.floor_divide",), grouped=True
)
for _name in (
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "gcd",
    "lcm",
):
    ufuncs.constant(f"np.{_name}", f"np.{_name}(n, 2) + 1", names=(f"numpy.{_name}",), grouped=True)
ufuncs.constant("np.invert", "np.invert(n)", names=("numpy.invert",), grouped=True)
ufuncs.call("np.conjugate", "mix(np.conjugate(complex(x, x * y)))", names=("numpy.conjugate",))
ufuncs.call("np.ldexp", "np.ldexp(x * x, n)", names=("numpy.ldexp",))
ufuncs.call("np.nextafter", "np.nextafter(x * x, y)", names=("numpy.nextafter",))
ufuncs.call(
    "np.divmod", "np.divmod(x * y, 0.5)[1] * np.divmod(7 * x, y)[0]", names=("numpy.divmod",)
)

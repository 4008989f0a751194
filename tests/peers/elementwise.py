"""Ufuncs, and what else goes element by element."""

from .table import GROUPS, Group, each

GROUPS["algebraic"] = Group(
    "a",
    each("np", "absolute fabs negative positive square reciprocal sqrt cbrt conjugate", "a")
    | each("np", "exp exp2 expm1 log log2 log10 log1p", "a")
    | each("np", "deg2rad rad2deg degrees radians copy", "a"),
)

GROUPS["trigonometric"] = Group(
    "a",
    each("np", "sin cos tan arcsin arccos arctan sinc", "a")
    | each("np", "sinh cosh tanh arcsinh arctanh", "a")
    | {"arccosh": "np.arccosh(a + 1.0)"},
)

GROUPS["of two arrays"] = Group(
    "a b m",
    each("np", "add subtract multiply divide", "m, a")
    | each("np", "maximum minimum fmax fmin hypot arctan2 fmod remainder", "m, a")
    | each("np", "power float_power logaddexp logaddexp2", "a, b")
    | {
        "copysign": "np.copysign(a, m)",
        "ldexp": "np.ldexp(a, 2)",
        "where": "np.where(m > 0.0, a, m * b)",
        "clip": "np.clip(m, -0.5, 0.8)",
    },
)

GROUPS["complex elementwise"] = Group(
    "z",
    each("np", "absolute negative square reciprocal sqrt conjugate exp expm1 log log1p log10", "z")
    | each("np", "sin cos tan sinh cosh tanh arctan arcsinh real imag angle", "z")
    | {"multiply": "z * z[::-1]", "divide": "z / z[::-1]", "power": "z**3"},
    reverse=("real", "imag"),
)

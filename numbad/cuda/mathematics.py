"""Functions of NumPy on numbers that numba-cuda types and has no code for: that of NVIDIA's libdevice."""

import numpy as np
from llvmlite import ir
from numba.cuda.ufuncs import ufunc_db

# Named as in libdevice, where a name ends in f for single precision.
_ONE = {
    np.exp: "exp",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.log1p: "log1p",
    np.sqrt: "sqrt",
    np.cbrt: "cbrt",
    np.absolute: "fabs",
    np.fabs: "fabs",
    np.floor: "floor",
    np.ceil: "ceil",
    np.trunc: "trunc",
    np.rint: "rint",
}
_TWO = {np.power: "pow", np.float_power: "pow", np.copysign: "copysign", np.fmod: "fmod"}
_INSTRUCTIONS = {np.add: "fadd", np.subtract: "fsub", np.multiply: "fmul"}


def _library(name):
    """The code of a function by that of libdevice."""

    def call(context, builder, sig, args):
        ty = args[0].type
        full = f"__nv_{name}" if isinstance(ty, ir.DoubleType) else f"__nv_{name}f"
        function = builder.module.globals.get(full)
        if function is None:
            signature = ir.FunctionType(ty, [ty] * len(args))
            function = ir.Function(builder.module, signature, full)
        return builder.call(function, args)

    return call


def _instruction(name):
    return lambda context, builder, sig, args: getattr(builder, name)(*args)


def _sign(context, builder, sig, args):
    (x,) = args
    zero, one = x.type(0.0), x.type(1.0)
    rest = builder.fadd(x, zero)  # NaN, or zero without a sign
    below = builder.select(builder.fcmp_ordered("<", x, zero), x.type(-1.0), rest)
    return builder.select(builder.fcmp_ordered(">", x, zero), one, below)


def _negative(context, builder, sig, args):
    (x,) = args
    return builder.fsub(x.type(-0.0), x)


def _square(context, builder, sig, args):
    (x,) = args
    return builder.fmul(x, x)


def _reciprocal(context, builder, sig, args):
    (x,) = args
    return builder.fdiv(x.type(1.0), x)


def _positive(context, builder, sig, args):
    return args[0]


_OWN = {
    np.sign: _sign,
    np.negative: _negative,
    np.square: _square,
    np.reciprocal: _reciprocal,
    np.positive: _positive,
}


def install():
    """Let numba-cuda know them, where it does not."""
    one = {fn: _library(name) for fn, name in _ONE.items()} | _OWN
    two = {fn: _library(name) for fn, name in _TWO.items()}
    two |= {fn: _instruction(name) for fn, name in _INSTRUCTIONS.items()}
    for kernels, loops in ((one, ("f->f", "d->d")), (two, ("ff->f", "dd->d"))):
        for ufunc, kernel in kernels.items():
            ufunc_db().setdefault(ufunc, dict.fromkeys(loops, kernel))


install()

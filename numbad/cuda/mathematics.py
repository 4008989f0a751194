"""Functions of NumPy that rules evaluate partials with, and that numba-cuda does not have."""

import numpy as np
from llvmlite import ir
from numba.cuda.ufuncs import ufunc_db


def _sign(context, builder, sig, args):
    (x,) = args
    zero, one = x.type(0.0), x.type(1.0)
    rest = builder.fadd(x, zero)  # NaN, or zero without a sign
    below = builder.select(builder.fcmp_ordered("<", x, zero), x.type(-1.0), rest)
    return builder.select(builder.fcmp_ordered(">", x, zero), one, below)


def _rint(context, builder, sig, args):
    (x,) = args
    name = "__nv_rint" if isinstance(x.type, ir.DoubleType) else "__nv_rintf"
    module = builder.module
    function = module.globals.get(name)
    if function is None:
        function = ir.Function(module, ir.FunctionType(x.type, [x.type]), name)
    return builder.call(function, [x])


def install():
    """Let numba-cuda know them, where it does not."""
    for ufunc, kernel in ((np.sign, _sign), (np.rint, _rint)):
        ufunc_db().setdefault(ufunc, {"f->f": kernel, "d->d": kernel})


install()

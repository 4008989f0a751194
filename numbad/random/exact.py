"""Products that are rounded by themselves, on every machine."""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic
def product(typingctx, x, y):
    """x * y, never contracted with a sum that it is part of: a GPU's compiler would do that."""

    def codegen(context, builder, signature, arguments):
        if "nvptx" not in builder.module.triple:
            return builder.fmul(*arguments)
        double = ir.DoubleType()
        of_two = ir.FunctionType(double, [double, double])
        rounded = builder.module.globals.get("__nv_dmul_rn") or ir.Function(
            builder.module, of_two, "__nv_dmul_rn"
        )
        return builder.call(rounded, arguments)

    return types.float64(types.float64, types.float64), codegen

"""Whether an adjoint is zero, asked where the code runs."""

import operator

from llvmlite import ir as llvm
from numba.core import types
from numba.extending import intrinsic


def is_nothing(e, bar):
    """Emit the question whether an adjoint is zero; a dual number's partials are to be zero, too."""
    return e.binop(operator.eq, bar, e.const(0.0)) if e.dual is None else e.call(all_zero, bar)


@intrinsic
def all_zero(typingctx, x):
    """Whether a number is zero, and each partial of it."""

    def codegen(context, builder, sig, args):
        zeros = [builder.fcmp_ordered("==", n, n.type(0.0)) for n in _numbers(builder, args[0])]
        found = zeros[0]
        for zero in zeros[1:]:
            found = builder.and_(found, zero)
        return found

    return types.boolean(x), codegen


def _numbers(builder, value):
    """The floats that an LLVM value is made of."""
    ty = value.type
    if isinstance(ty, llvm.VectorType):
        places = [llvm.Constant(llvm.IntType(32), k) for k in range(ty.count)]
        return [builder.extract_element(value, k) for k in places]
    if isinstance(ty, llvm.Aggregate):
        items = [builder.extract_value(value, k) for k in range(len(ty))]
        return [n for item in items for n in _numbers(builder, item)]
    return [value]

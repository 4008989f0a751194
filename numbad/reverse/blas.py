"""BLAS products that are added to an array: `C += A @ B`, `y += A @ x`, without a temporary.

They call the wrappers by which Numba itself reaches SciPy's BLAS, whose last factor, `beta`, is one here.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array
from numba.np.linalg import check_blas_return, get_blas_kind, make_constant_slot

_DTYPES = types.float32, types.float64, types.complex64, types.complex128
_i8, _i64 = ir.IntType(8), ir.IntType(64)
_pointer = cgutils.voidptr_t


def takes(*arrays):
    """Whether BLAS can read and write arrays of these types where they are."""
    dtypes = {ty.dtype for ty in arrays}
    plain = len(dtypes) == 1 and dtypes <= set(_DTYPES)
    return plain and all(ty.layout in "CF" for ty in arrays)


class _Factor:
    """An array as BLAS takes it: the pointer, the shape, and whether it lies in Fortran's order."""

    def __init__(self, context, builder, ty, value):
        array = make_array(ty)(context, builder, value)
        self.shape = cgutils.unpack_tuple(builder, array.shape, ty.ndim)
        self.data = builder.bitcast(array.data, _pointer)
        self.fortran = ty.layout == "F"

    @property
    def step(self):
        """Elements from one column, or in C order row, to the next."""
        return self.shape[0] if self.fortran else self.shape[-1]

    def turned(self, as_stored):
        """Whether BLAS, for which all is in Fortran's order, is to transpose the array."""
        return ir.Constant(_i8, ord("n" if self.fortran == as_stored else "t"))


def _one(context, builder, dtype):
    return builder.bitcast(make_constant_slot(context, builder, dtype, 1.0), _pointer)


def _called(context, builder, name, dtype, args):
    kind = ir.Constant(_i8, ord(get_blas_kind(dtype)))
    args = [kind, *args]
    fnty = ir.FunctionType(ir.IntType(32), [a.type for a in args])
    fn = cgutils.get_or_insert_function(builder.module, fnty, name)
    check_blas_return(context, builder, builder.call(fn, args))
    return context.get_dummy_value()


@intrinsic
def add_product(typingctx, c, a, b):
    """`c += a @ b`, for matrices with elements that lie one after the other."""
    if not takes(c, a, b):
        raise TypingError("no arrays for BLAS")

    def codegen(context, builder, sig, args):
        c_, a_, b_ = (_Factor(context, builder, t, v) for t, v in zip(sig.args, args, strict=True))
        (m, k), n = a_.shape, b_.shape[1]
        one = _one(context, builder, c.dtype)
        if c_.fortran:
            sizes, first, second = (m, n, k), a_, b_
        else:  # what Fortran takes for C's transpose is the product of the transposes, B first
            sizes, first, second = (n, m, k), b_, a_
        turned = [f.turned(c_.fortran) for f in (first, second)]
        operands = one, first.data, first.step, second.data, second.step, one, c_.data, c_.step
        return _called(context, builder, "numba_xxgemm", c.dtype, (*turned, *sizes, *operands))

    return types.none(c, a, b), codegen


@intrinsic
def add_matrix_vector(typingctx, y, a, x):
    """`y += a @ x`, for a matrix and vectors with elements that lie one after the other."""
    if not takes(y, a, x):
        raise TypingError("no arrays for BLAS")

    def codegen(context, builder, sig, args):
        y_, a_, x_ = (_Factor(context, builder, t, v) for t, v in zip(sig.args, args, strict=True))
        rows, columns = a_.shape if a_.fortran else a_.shape[::-1]
        one = _one(context, builder, y.dtype)
        turned = ir.Constant(_i8, ord("n" if a_.fortran else "t"))
        operands = turned, rows, columns, one, a_.data, a_.step, x_.data, one, y_.data
        return _called(context, builder, "numba_xxgemv", y.dtype, operands)

    return types.none(y, a, x), codegen

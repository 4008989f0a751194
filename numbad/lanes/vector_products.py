"""Products with vectors as loops, which lanes go through together: BLAS takes one lane's numbers."""

import operator

import numpy as np
from numba import njit
from numba.core import ir, types

from ..ir.function import is_expr
from ..ir.sequences import call_helper


@njit
def _vectors(a, b):
    if a.shape[0] != b.shape[0]:
        raise ValueError("incompatible array sizes for np.dot(a, b)")
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@njit
def _matrix_vector(a, b):
    if a.shape[1] != b.shape[0]:
        raise ValueError("incompatible array sizes for np.dot(a, b)")
    out = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(b.shape[0]):
            total += a[i, k] * b[k]
        out[i] = total
    return out


@njit
def _vector_matrix(a, b):
    return _matrix_vector(b.T, a)


_HELPERS = {(1, 1): _vectors, (2, 1): _matrix_vector, (1, 2): _vector_matrix}


def write_products(fn):
    """Have loops in place of `np.dot` and `@` of vectors of doubles; whether there are any."""
    written = 0
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            factors = _factors(fn, s)
            helper = _HELPERS.get(tuple(fn.type_of(v).ndim for v in factors))
            if helper is not None:
                written += 1
                s = ir.Assign(call_helper(fn, helper, factors, body, s.loc), s.target, s.loc)
            body.append(s)
        block.body = body
    fn.changed()
    return written > 0


def _factors(fn, s):
    """The factors of a product of arrays; none of anything else."""
    value = getattr(s, "value", None)
    if is_expr(value, "binop") and value.fn is operator.matmul:
        factors = [value.lhs, value.rhs]
    elif is_expr(value, "call") and fn.constant(value.func) is np.dot and not value.kws:
        factors = list(value.args)
    else:
        return []
    tys = [fn.type_of(v) for v in factors]
    known = all(isinstance(ty, types.Array) and ty.dtype == types.float64 for ty in tys)
    return factors if known and len(factors) == 2 else []

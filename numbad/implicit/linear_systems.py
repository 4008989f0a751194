"""The linear algebra of the implicit function theorem, for floats and for dual numbers of any level."""

import numpy as np
from numba.extending import overload, register_jitable

from ..errors import SingularError
from ..forward import dual as d
from ..forward.access import dtype_like
from ..forward.custom import assemble, tangent, value_of
from ..forward.dual_arrays import is_dual_array
from ..forward.dual_products import dot
from ..source import define
from .lapack_status import solve_floats


def solve(a, b):
    """The matrix `x` with `a @ x = b`, for matrices of floats or of dual numbers.

    Differentiated: `a dx = db - da x` (Giles, "Collected matrix derivative results for forward and
    reverse mode algorithmic differentiation", 2008, section 2.3.1), all partials by one solve.
    """
    raise NotImplementedError


@overload(solve)
def _solve(a, b):
    if not (is_dual_array(a) or is_dual_array(b)):
        return _solve_floats
    top = d.top_dual(a, b)
    return _solve_source(top.n, top.tag)


def _solve_floats(a, b):
    x, found = solve_floats(a, b)
    if not found:
        raise SingularError("a matrix in the derivative of an implicit function is singular")
    return x


def _solve_source(n, tag):
    lines = [
        "def solve_duals(a, b):",
        f"    value, below = value_of(a, {tag}), value_of(b, {tag})",
        "    x = solve(value, below)",
        "    k = b.shape[1]",
        f"    right = np.empty((b.shape[0], {n} * k), dtype_like(value, x))",
    ]
    for i in range(n):
        lines.append(
            f"    right[:, {i} * k : {i + 1} * k] = "
            f"tangent(b, {i}, {tag}) - dot(tangent(a, {i}, {tag}), x)"
        )
    lines.append("    dx = solve(value, right)")
    parts = "".join(f"dx[:, {i} * k : {i + 1} * k], " for i in range(n))
    lines.append(f"    return assemble(x, ({parts}), {tag})")
    namespace = {
        "np": np,
        "solve": solve,
        "dot": dot,
        "tangent": tangent,
        "assemble": assemble,
        "dtype_like": dtype_like,
        "value_of": value_of,
    }
    return define("\n".join(lines) + "\n", namespace)


@register_jitable
def minus_solution(a, b):
    """The vector `x` with `a @ x = -b`."""
    right = np.empty((b.size, 1), dtype_like(a, b))
    for k in range(b.size):
        right[k, 0] = -b[k]
    return solve(a, right)[:, 0]


@register_jitable
def minus_identity(a):
    """A square matrix less the identity, in place."""
    for k in range(a.shape[0]):
        a[k, k] = a[k, k] - 1.0
    return a

"""One Newton step at a solution, by which the implicit function theorem gives its derivatives.

At a solution `x` of `g(x, a) = 0`, `x - J^-1 g(x, a + da)` with `J = dg/dx` has the value `x` and the
derivative `-J^-1 (dg/da) da`. Dual numbers of one level are taken off at a time: `x` and `J` hold those
of lower levels, and with them their own derivatives, so this is exact to every order.
"""

import numpy as np
from numba.core import types
from numba.extending import overload

from ..forward import dual as d
from ..forward.access import dtype_like, partial
from ..forward.custom import assemble
from ..source import define
from .linear_systems import solve


def corrected(x, slope, residual, tag, n):
    """`x - slope^-1 residual`, where `x` is a solution, as duals with `n` partials of level `tag`.

    Only the partials of that level count in the residual. `slope` is a number, or a matrix where
    `x` is an array.
    """
    raise NotImplementedError


@overload(corrected, prefer_literal=True)
def _corrected(x, slope, residual, tag, n):
    array = isinstance(x, types.Array)
    scalar = residual.dtype if array else residual
    depends = isinstance(scalar, d.Dual) and scalar.tag == tag.literal_value
    write = _array_source if array else _scalar_source
    return write(n.literal_value, tag.literal_value, depends)


_NAMESPACE = {
    "np": np,
    "assemble": assemble,
    "partial": partial,
    "solve": solve,
    "dtype_like": dtype_like,
}


def _scalar_source(n, tag, depends):
    parts = [f"-partial(residual, {i}) / slope" if depends else "0.0" for i in range(n)]
    returned = f"assemble(x, ({', '.join(parts)},), {tag})"
    return define(
        f"def corrected(x, slope, residual, tag, n):\n    return {returned}\n", _NAMESPACE
    )


def _array_source(n, tag, depends):
    lines = [
        "def corrected(x, slope, residual, tag, n):",
        f"    right = np.zeros((x.size, {n}), dtype_like(x, slope))",
    ]
    if depends:
        lines.append("    for k in range(x.size):")
        lines += [f"        right[k, {i}] = -partial(residual[k], {i})" for i in range(n)]
        lines.append("    right = solve(slope, right)")
    parts = "".join(f"right[:, {i}], " for i in range(n))
    lines.append(f"    return assemble(x, ({parts}), {tag})")
    return define("\n".join(lines) + "\n", _NAMESPACE)

"""Functions of whole arrays with a rule of numbad's own, on arrays of dual numbers.

What does not depend on the partials is computed once for all of them.
"""

import numpy as np
from numba.extending import intrinsic, overload, register_jitable

from ..rules.registry import ImplicitRule, Linearized
from ..source import define
from . import dual as d
from .access import assemble_scalar, dtype_like, partial
from .arithmetic import RuleEmitter
from .custom import KINDS, assemble, dtype_of_value, of_level, tangent, value_of
from .dual_arrays import plain
from .dual_dispatcher import dualized
from .operands import Operand


def _differentiated(call, fn, source):
    """Let `source(types of the arguments, number of partials, tag)` give the code for dual numbers."""

    @overload(call)
    def overload_call(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        top = d.top_dual(*args)
        if top is None:
            return lambda *args: fn(*args)
        return source(args, top.n, top.tag)


def _values(count, tag):
    return "".join(f"value_of(args[{k}], {tag}), " for k in range(count))


def _register_linearized(call, fn, rule):
    def source(args, n, tag):
        moves = tuple(any(dual.tag == tag for dual in d.duals_in(a)) for a in args)
        push = rule.push[moves] if isinstance(rule.push, dict) else rule.push
        parts = (of_level(part, tag) for part in (rule.forward, push))
        return _linearized_source(moves, n, tag, *parts)

    _differentiated(call, fn, source)


def _linearized_source(moves, n, tag, forward, push):
    """Source of a function that pushes every partial forward; None for what is constant."""
    lines = ["def call(*args):", f"    value, residuals = forward({_values(len(moves), tag)})"]
    for i in range(n):
        given = (f"tangent(args[{k}], {i}, {tag})" if m else None for k, m in enumerate(moves))
        lines.append(f"    t{i} = push(residuals, ({''.join(f'{t}, ' for t in given)}))")
    partials = "".join(f"t{i}, " for i in range(n))
    lines.append(f"    return assemble(value, ({partials}), {tag})")
    namespace = {"forward": forward, "push": push, "value_of": value_of, "tangent": tangent}
    return define("\n".join(lines) + "\n", namespace | {"assemble": assemble})


def _register_implicit(call, fn, rule):
    def source(args, n, tag):
        forward, solve = (of_level(part, tag) for part in (rule.forward, rule.solve))
        return _implicit_source(len(args), n, tag, forward, dualized(rule.defect), solve)

    _differentiated(call, fn, source)


def _implicit_source(count, n, tag, forward, defect, solve):
    """Source of a function that solves one system, with a column for each partial of each column."""
    given = "".join(f"args[{k}], " for k in range(count))
    partials = "".join(f"moved[i, j * {n} + {p}], " for p in range(n))
    lines = ["def call(*args):", f"    x, residuals = forward({_values(count, tag)})"]
    lines.append(f"    moved = solve(residuals, columns(defect({given}x), {n}))")
    lines.append(f"    out = np.empty(x.T.shape, dtype_like(x, {given})).T")
    lines += ["    for j in range(x.shape[1]):", "        for i in range(x.shape[0]):"]
    lines.append(f"            out[i, j] = assemble_scalar(x[i, j], ({partials}), {tag})")
    namespace = {"forward": forward, "defect": defect, "solve": solve, "np": np}
    namespace |= {"value_of": value_of, "columns": columns_of_partials, "dtype_like": dtype_like}
    namespace["assemble_scalar"] = assemble_scalar
    return define("\n".join([*lines, "    return out"]) + "\n", namespace)


def _register_constant(call, fn, _):
    """The function of the values alone."""

    @overload(call)
    def overload_call(*args):
        args = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        values = ", ".join(f"plain(args[{k}])" for k in range(len(args)))
        source = f"def call(*args):\n    return fn({values})\n"
        return define(source, {"fn": fn, "plain": plain})


KINDS[Linearized] = _register_linearized
KINDS[ImplicitRule] = _register_implicit
KINDS["constant"] = _register_constant


# -- of numbers ------------------------------------------------------------------------------------------


@intrinsic
def pushed(typingctx, value, slopes, duals):
    """The dual of a float value whose partials are those of `duals`, of one type, each times its slope.

    A product is zero where a factor is, be the other infinite.
    """
    dual = duals[0]

    def codegen(context, builder, sig, args):
        emit, total = RuleEmitter(context, builder, dual.scalar), None
        for k in range(len(duals)):
            slope = Operand(dual.scalar, builder.extract_value(args[1], k))
            _, partials = d.split(context, builder, dual, builder.extract_value(args[2], k))
            term = emit.scale(dual, slope, partials, strong=True)
            total = term if total is None else emit.add(dual, total, term)
        return d.build(context, builder, dual, args[0], total)

    return dual(value, slopes, duals), codegen


# -- the partials of all elements as a matrix ------------------------------------------------------


@register_jitable
def rows_of_partials(a, n):
    """The partials of a matrix below each other: row `i * n + p` holds partial `p` of row `i`."""
    out = np.empty((a.shape[0] * n, a.shape[1]), dtype_of_value(a))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for p in range(n):
                out[i * n + p, j] = partial(a[i, j], p)
    return out


@register_jitable
def columns_of_partials(a, n):
    """The partials of a matrix side by side: column `j * n + p` holds partial `p` of column `j`."""
    out = np.empty((a.shape[0], a.shape[1] * n), dtype_of_value(a))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for p in range(n):
                out[i, j * n + p] = partial(a[i, j], p)
    return out

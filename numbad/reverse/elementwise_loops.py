"""Functions of numbers applied to arrays element by element: jitted helpers, as in `loops`."""

import operator
from functools import cache
from weakref import WeakSet

import numpy as np

from ..rules.arrays import broadcasting
from ..rules.arrays.nests import jit, nest, number_class, subscript, tuple_of

OPERATORS = operator.add, operator.sub, operator.mul, operator.truediv, operator.pow
"""The operators of whole arrays that expressions are made of."""

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "pow": "**"}
_DIVISIONS = {
    operator.truediv: np.true_divide,
    operator.mod: np.remainder,
    operator.floordiv: np.floor_divide,
}
"""What operators mean of arrays, where division by zero is no error."""

EXPRESSIONS = WeakSet()
"""The jitted functions that `over_expression` has made."""


def _applied(function, operands):
    symbol = _SYMBOLS.get(getattr(function, "__name__", ""))
    if symbol and len(operands) == 2 and getattr(function, "__module__", "") == "_operator":
        return f"{operands[0]} {symbol} {operands[1]}"
    if getattr(function, "__name__", "") == "neg":
        return f"-{operands[0]}"
    return f"fn({', '.join(operands)})"


@cache
def elementwise(function, ndims, dtype, turned):
    """`function` of arrays and scalars (`-1` in `ndims`), broadcast, as a new array.

    turned: as in `over_expression`
    """
    function = _DIVISIONS.get(function, function)
    ndim = max(ndims)
    names = [f"x{j}" for j in range(len(ndims))]
    lines = [f"def apply({', '.join(names)}):", *broadcasting.lengths(names, ndims, ndim)]
    counts = [f"n{k}" for k in range(ndim)]
    lines.append(_empty(counts, "dtype", turned))
    operands = _operands(lines, names, ndims, counts)
    body = [f"out{subscript(ndim, ndim)} = {_applied(function, operands)}"]
    lines += nest(counts, body, order="F" if turned else "C")
    return jit([*lines, "    return out"], fn=function, dtype=number_class(dtype))


def _empty(counts, dtype, turned):
    """The line that makes a new array `out`; `turned`: in Fortran's order."""
    shape, turn = (counts[::-1], ".T") if turned else (counts, "")
    return f"    out = np.empty({tuple_of(shape)}, {dtype}){turn}"


def _operands(lines, names, ndims, counts):
    operands = []
    for name, own in zip(names, ndims, strict=True):
        if own < 0:
            operands.append(name)
            continue
        lines += broadcasting.steps(name, own, counts)
        operands.append(f"{name}{subscript(own, len(counts), name + 's')}")
    return operands


@cache
def of_numbers(function, ndims):
    """`function` of scalars (`-1` in `ndims`) and arrays without axes, as a scalar."""
    function = _DIVISIONS.get(function, function)
    names = [f"x{j}" for j in range(len(ndims))]
    operands = [f"{name}[()]" if own == 0 else name for name, own in zip(names, ndims, strict=True)]
    lines = [f"def apply({', '.join(names)}):", f"    return {_applied(function, operands)}"]
    return jit(lines, fn=function)


@cache
def elementwise_into(function, ndims, out_ndim):
    """`function` of arrays and scalars, broadcast, into the last argument, which is returned.

    As in Numba, what has been written is read again where the arrays share memory.
    """
    function = _DIVISIONS.get(function, function)
    names = [f"x{j}" for j in range(len(ndims))]
    lines = [f"def apply({', '.join(names)}, out):"]
    counts = [f"out.shape[{k}]" for k in range(out_ndim)]
    operands = _operands(lines, names, ndims, counts)
    body = [f"out{subscript(out_ndim, out_ndim)} = {_applied(function, operands)}"]
    lines += nest(counts, body)
    return jit([*lines, "    return out"], fn=function)


# -- expressions ------------------------------------------------------------------------------


def spelled(shape, ndims, ndim):
    """The source of an expression of the operands `x0`, `x1`, ..., and the functions that it names.

    shape: a function and its operands, each a number or a shape in its turn
    ndim: of the loops around it
    """
    functions = {}

    def spell(node):
        if isinstance(node, int):
            name, own = f"x{node}", ndims[node]
            return name if own < 0 else f"{name}{subscript(own, ndim, name + 's')}"
        function, operands = _DIVISIONS.get(node[0], node[0]), node[1]
        symbol = _SYMBOLS.get(getattr(function, "__name__", ""))
        inner = [spell(operand) for operand in operands]
        if symbol and getattr(function, "__module__", "") == "_operator":
            return f"({inner[0]} {symbol} {inner[1]})"
        if getattr(function, "__name__", "") == "neg":
            return f"(-{inner[0]})"
        name = functions.setdefault(function, f"fn{len(functions)}")
        return f"{name}({', '.join(inner)})"

    source = spell(shape)
    return source, {name: function for function, name in functions.items()}


def over_expression(source, functions, ndims, kind, into, turned):
    """A loop over an expression of arrays and scalars (`-1` in `ndims`), broadcast.

    into: "array" for a new array, "sum" for the sum of all elements
    turned: whether the first axis runs fastest, in the loop and in memory
    """
    ndim = max(ndims)
    names = [f"x{j}" for j in range(len(ndims))]
    lines = [f"def apply({', '.join(names)}):", *broadcasting.lengths(names, ndims, ndim)]
    counts = [f"n{k}" for k in range(ndim)]
    for name, own in zip(names, ndims, strict=True):
        lines += broadcasting.steps(name, max(own, 0), counts)
    if into == "sum":
        lines.append("    out = number(0)")
        body = [f"out += {source}"]
    else:
        lines.append(_empty(counts, "number", turned))
        body = [f"out{subscript(ndim)} = {source}"]
    lines += nest(counts, body, order="F" if turned else "C")
    made = jit([*lines, "    return out"], **functions, number=number_class(kind))
    EXPRESSIONS.add(made)
    return made


def expression_into(source, functions, ndims, out_ndim, indexed):
    """A loop over an expression, into the first argument, which shares no memory with operands.

    indexed: whether into the part that the second argument, an index, shows
    """
    names = [f"x{j}" for j in range(len(ndims))]
    first = ["a", "index"] if indexed else ["out"]
    lines = [f"def apply({', '.join(first + names)}):"]
    if indexed:
        lines.append("    out = a[index]")
    counts = [f"out.shape[{k}]" for k in range(out_ndim)]
    step = "assigned_step" if indexed else "broadcast_step"
    for name, own in zip(names, ndims, strict=True):
        lines += broadcasting.steps(name, max(own, 0), counts, step)
    lines += nest(counts, [f"out{subscript(out_ndim)} = {source}"])
    return jit([*lines, "    return out"], **functions)

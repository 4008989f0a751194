"""Array expressions as one loop: what is computed element by element makes no array of its own.

`np.exp(-r**2).sum()` takes three arrays and four loops, as it is written. Where an array is used once,
in the block that makes it, and nothing in between can write to what it is made of, its expression
stands where it is used, be that another expression, or a sum. Numba fuses expressions as well; it
does so after the stage at which the code is captured.
"""

import operator
from collections import Counter
from functools import cache

import numpy as np
from numba.core import ir, types

from ..ir.callee import callee_of
from ..ir.function import is_expr, read_by
from ..ir.sequences import call_helper
from ..rules.registry import SCALAR
from . import elementwise_loops
from .assigned_parts import lies_apart, target_of
from .elementwise_loops import OPERATORS
from .switches import Switch

EXPRESSIONS = Switch(
    "expressions",
    "an array expression that is used once is computed where it is used, in one loop",
)

_HARMLESS = {"getattr", "binop", "unary", "cast", "build_tuple", "static_getitem", "getitem"}


class FusedNode:
    """A function of operands: each a variable, or a node in its turn."""

    def __init__(self, function, operands):
        self.function, self.operands = function, operands

    def variables(self):
        """The variables below, each once, in the order of the expression."""
        found = {}
        for operand in self.operands:
            below = operand.variables() if isinstance(operand, FusedNode) else [operand]
            found.update({v.name: v for v in below})
        return list(found.values())

    def shape(self, numbers):
        """The expression in terms of the numbers of the variables, as nested tuples."""
        return self.function, tuple(
            o.shape(numbers) if isinstance(o, FusedNode) else numbers[o.name] for o in self.operands
        )


def fuse(fn):
    """Put the expressions of a `Function` into each other, in place; returns it."""
    if not EXPRESSIONS.is_on():
        return fn
    uses = Counter(v.name for _, s in fn.statements() for v in read_by(s))
    for block in fn.blocks.values():
        _fuse_block(fn, block, uses)
    fn.changed()
    return fn


def _fuse_block(fn, block, uses):
    waiting, gone, body = {}, set(), []  # name -> (its statement, its node)
    methods = {}  # name -> the statement that takes a method from an array
    for s in block.body:
        if is_expr(getattr(s, "value", None), "getattr"):
            methods[s.target.name] = s
        target = target_of(fn, s)
        if target is not None and _may_go_there(fn, target, waiting):
            statement, node = waiting[target.value.name]
            gone.add(id(statement))
            body.append((s, node))
            waiting.clear()
            continue
        node = _node(fn, s)
        summed = _summed(fn, s, waiting, uses) if node is None else None
        if node is not None:
            node.operands = [_taken(v, waiting, gone) for v in node.operands]
            if uses[s.target.name] == 1:
                waiting[s.target.name] = s, node
            if any(isinstance(o, FusedNode) for o in node.operands):
                body.append((s, node))
                continue
        elif summed is not None:
            gone.add(id(waiting[summed.name][0]))
            if s.value.func.name in methods:
                gone.add(id(methods[s.value.func.name]))
            body.append((s, waiting.pop(summed.name)[1]))
            continue
        elif not _is_harmless(fn, s):
            waiting.clear()
        body.append((s, None))
    block.body = []
    for s, node in body:
        if id(s) not in gone:
            block.body += [s] if node is None else _written(fn, s, node)


def _may_go_there(fn, target, waiting):
    """Whether an expression waits to be assigned, as large as its target, and of arrays apart from that."""
    if target.value.name not in waiting:
        return False
    ty, of_value = fn.type_of(target.array), fn.type_of(target.value)
    if not _is_plain_array(ty) or ty.dtype != of_value.dtype or target.ndim != of_value.ndim:
        return False
    operands = waiting[target.value.name][1].variables()
    return lies_apart(
        fn, target.array, [v for v in operands if isinstance(fn.type_of(v), types.Array)]
    )


def _taken(var, waiting, gone):
    """The node of a variable that waits to be used; else the variable."""
    if var.name not in waiting:
        return var
    statement, node = waiting.pop(var.name)
    gone.add(id(statement))
    return node


def _written(fn, s, node):
    """The statements of a loop over a whole expression."""
    if not isinstance(s, ir.Assign) or is_expr(s.value, "inplace_binop"):
        return _written_in_place(fn, s, node)
    variables = node.variables()
    numbers = {v.name: k for k, v in enumerate(variables)}
    tys = [fn.type_of(v) for v in variables]
    arrays = [ty for ty in tys if isinstance(ty, types.Array)]
    ndims = tuple(ty.ndim if isinstance(ty, types.Array) else -1 for ty in tys)
    turned = all(ty.layout == "F" for ty in arrays) and max(ndims) > 1
    result = fn.type_of(s.target)
    kind = result.dtype if isinstance(result, types.Array) else result
    into = "array" if isinstance(result, types.Array) else "sum"
    helper = expression(node.shape(numbers), ndims, kind, into, turned)
    made = []
    found = call_helper(fn, helper, variables, made, s.loc)
    made[-1] = ir.Assign(made[-1].value, s.target, s.loc)
    fn.types[s.target.name] = fn.type_of(found)
    return made


@cache
def expression(shape, ndims, kind, into, turned):
    """A loop over an expression, into a new array or a sum; `turned`: in Fortran's order."""
    source, names = elementwise_loops.spelled(shape, ndims, max(ndims))
    return elementwise_loops.over_expression(source, names, ndims, kind, into, turned)


def _written_in_place(fn, s, node):
    """The statements of a loop that writes an expression where it is assigned, or what it is added to."""
    target = target_of(fn, s)
    if target.index is None:
        node = FusedNode(s.value.immutable_fn, [target.array, node])
    variables = node.variables()
    numbers = {v.name: k for k, v in enumerate(variables)}
    tys = [fn.type_of(v) for v in variables]
    ndims = tuple(ty.ndim if isinstance(ty, types.Array) else -1 for ty in tys)
    indexed = target.index is not None
    helper, made = into_place(node.shape(numbers), ndims, target.ndim, indexed), []
    given = [target.array, target.index] if indexed else [target.array]
    found = call_helper(fn, helper, [*given, *variables], made, s.loc)
    if not indexed:
        made[-1] = ir.Assign(made[-1].value, s.target, s.loc)
        fn.types[s.target.name] = fn.type_of(found)
    return made


@cache
def into_place(shape, ndims, out_ndim, indexed):
    """A loop over an expression, into what is there; see `expression_into`."""
    source, names = elementwise_loops.spelled(shape, ndims, out_ndim)
    return elementwise_loops.expression_into(source, names, ndims, out_ndim, indexed)


# -- what an expression is made of -----------------------------------------------------------------


def _node(fn, s):
    """The node of a statement that is done element by element; None for another."""
    value = getattr(s, "value", None) if isinstance(s, ir.Assign) else None
    if is_expr(value, "binop") and value.fn in OPERATORS:
        node = FusedNode(value.fn, [value.lhs, value.rhs])
    elif is_expr(value, "unary") and value.fn in ("-", operator.neg):
        node = FusedNode(operator.neg, [value.value])
    elif is_expr(value, "call") and not value.kws and value.vararg is None:
        function = callee_of(fn, value).key
        if not isinstance(function, np.ufunc) or function not in SCALAR or function.nout != 1:
            return None
        node = FusedNode(function, list(value.args)) if len(value.args) == function.nin else None
    else:
        return None
    return node if node is not None and _is_uniform(fn, s, node) else None


def _is_uniform(fn, s, node):
    """Whether all arrays are of one type of numbers, in double precision, and the rest scalars."""
    result = fn.type_of(s.target)
    if not _is_plain_array(result) or result.dtype not in (types.float64, types.complex128):
        return False
    for var in node.operands:
        ty = types.unliteral(fn.type_of(var))
        if isinstance(ty, types.Array):
            if not _is_plain_array(ty) or ty.dtype != result.dtype:
                return False
        elif not _is_scalar_beside(ty, result.dtype):
            return False
    return True


def _is_scalar_beside(ty, dtype):
    """Whether a scalar is of a kind that does not change the type of the array's numbers."""
    wider = isinstance(ty, types.Complex) and dtype == types.float64
    return isinstance(ty, types.Number | types.Boolean) and not wider


def _is_plain_array(ty):
    return type(ty) is types.Array and ty.ndim > 0


def _summed(fn, s, waiting, uses):
    """The array that waits and that a statement adds up, all of it; else None."""
    call = getattr(s, "value", None) if isinstance(s, ir.Assign) else None
    if not is_expr(call, "call") or call.kws or uses[call.func.name] > 1:
        return None
    callee = callee_of(fn, call)
    if callee.kind == "method" and callee.key == "sum" and not call.args:
        var = callee.owner
    elif callee.key is np.sum and len(call.args) == 1:
        var = call.args[0]
    else:
        return None
    return var if var.name in waiting else None


def _is_harmless(fn, s):
    """Whether a statement writes to no array."""
    if not isinstance(s, ir.Assign):
        return False
    value = s.value
    if is_expr(value, "call"):
        return fn.constant(value.func) is slice
    return not isinstance(value, ir.Expr) or value.op in _HARMLESS

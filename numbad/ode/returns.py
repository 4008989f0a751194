"""Reading `return [a, b]` and `return np.array([a, b])` as `return a, b`.

Most right-hand sides are written so. A list or array costs an allocation at every call, several
times what the arithmetic of a small system costs; a tuple stays in registers and tells its length
to the compiler. The solver reads nothing but the values, and nobody else sees the object.
"""

from collections import Counter

import numpy as np
from numba.core import errors, ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.registry import CPUDispatcher
from numba.core.untyped_passes import ReconstructSSA

from numbad.compilation.caching import enable
from numbad.compilation.memo import remembered
from numbad.forward.data_flow import constant_of
from numbad.forward.dualize import DualCompiler, DualDispatcher, dualized, replacement
from numbad.forward.primal import compile_like
from numbad.ir.untyped import untyped
from numbad.rules.registry import rules_given


class TupleDispatcher(CPUDispatcher):
    """A function that returns tuples for the lists it writes out."""


class DualTupleDispatcher(DualDispatcher):
    """One for dual numbers."""


def returning_tuples(fun):
    """`fun` for floats and for duals, each returning tuples for lists written out.

    (None, None) where it returns anything else, or has a rule of its own.
    """
    known = remembered(fun, "returning tuples")
    if rules_given() not in known:
        adaptable = type(fun) is CPUDispatcher and replacement(fun) is dualized(fun)
        built = _build(fun) if adaptable and _returns_displays(fun) else (None, None)
        known[rules_given()] = built
    return known[rules_given()]


def _returns_displays(fun):
    try:
        return bool(_displays(untyped(fun)))
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return False  # the compilation proper tells what is wrong


def _build(fun):
    py_func, options = fun.py_func, dict(fun.targetoptions)
    pipelines = (TupleDispatcher, TupleCompiler), (DualTupleDispatcher, DualTupleCompiler)
    made = (
        dispatcher(py_func, targetoptions=options, pipeline_class=pipeline)
        for dispatcher, pipeline in pipelines
    )
    contents = "returning tuples", fun, options
    return tuple(enable(compile_like(one, fun), lambda: contents) for one in made)


def _displays(func_ir):
    """The items of the list behind each return, by the name of what is to be a tuple of them.

    Empty where some return is of anything but a list written out.
    """
    definitions, uses = build_definitions(func_ir.blocks), _uses(func_ir)
    found = {}
    for block in func_ir.blocks.values():
        if isinstance(block.terminator, ir.Return):
            name, value = _origin(block.terminator.value, definitions, uses)
            items = _items(func_ir, value, definitions, uses)
            if items is None:
                return {}
            found[name] = items
    return found


def _uses(func_ir):
    """In how many statements each variable occurs: 2 where it is assigned once and read once."""
    statements = (s for block in func_ir.blocks.values() for s in block.body)
    return Counter(name for s in statements for name in {var.name for var in s.list_vars()})


def _origin(var, definitions, uses):
    """The name and the expression behind a variable that nothing else refers to."""
    while uses[var.name] == 2 and len(definitions[var.name]) == 1:
        (value,) = definitions[var.name]
        if isinstance(value, ir.Var):
            var = value
        elif isinstance(value, ir.Expr) and value.op == "cast":
            var = value.value
        else:
            return var.name, value
    return var.name, None


def _items(func_ir, value, definitions, uses):
    """The items of a list written out, or of an array made of one; None for anything else."""
    if _is_array_of_one_argument(func_ir, value):
        _, value = _origin(value.args[0], definitions, uses)
    is_list = isinstance(value, ir.Expr) and value.op == "build_list"
    return list(value.items) if is_list else None


def _is_array_of_one_argument(func_ir, value):
    if not isinstance(value, ir.Expr) or value.op != "call" or len(value.args) != 1 or value.kws:
        return False
    return constant_of(func_ir, value.func) in (np.array, np.asarray)


@register_pass(mutates_CFG=False, analysis_only=False)
class ReturnTuples(FunctionPass):
    """Makes a tuple of what is returned."""

    _name = "numbad_return_tuples"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        items = _displays(state.func_ir)
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, ir.Assign) and statement.target.name in items:
                    chosen = items[statement.target.name]
                    statement.value = ir.Expr.build_tuple(chosen, statement.loc)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return bool(items)


class TupleCompiler(CompilerBase):
    """Numba's nopython pipeline with the pass."""

    def define_pipelines(self):
        pm = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pm.add_pass_after(ReturnTuples, ReconstructSSA)
        pm.finalize()
        return [pm]


class DualTupleCompiler(DualCompiler):
    """The pipeline for dual numbers with the pass."""

    def define_pipelines(self):
        (pm,) = super().define_pipelines()
        pm.add_pass_after(ReturnTuples, ReconstructSSA)
        pm.finalize()
        return [pm]

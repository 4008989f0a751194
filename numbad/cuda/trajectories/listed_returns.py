"""Right-hand sides that return a list or an array written out: on a GPU as on the CPU, a tuple."""

from collections import Counter

from numba.core import ir
from numba.core.compiler_machinery import register_pass

from numbad.compilation.memo import remembered
from numbad.cuda.compiler import HELD, DeviceCode
from numbad.cuda.device_function import device_function
from numbad.cuda.dual_code import DualCode, parameters_of, untyped_ir, up_to_types
from numbad.ir.function import is_expr
from numbad.ode.returns import (
    DualTupleCompiler,
    DualTupleDispatcher,
    ReturnTuples,
    TupleCompiler,
    TupleDispatcher,
    returning_tuples,
)


class _UntypedTuples(TupleCompiler):
    """Its passes that come before the inference of types."""

    def define_pipelines(self):
        return up_to_types(*super().define_pipelines())


class _UntypedDualTuples(DualTupleCompiler):
    """Those for dual numbers."""

    def define_pipelines(self):
        return up_to_types(*super().define_pipelines())


class TupleCode(DeviceCode):
    """The code for floats."""

    stands_for = (DualTupleDispatcher,)

    def __init__(self, dispatcher):
        self.dispatcher = dispatcher
        name = f"tuple_{dispatcher.py_func.__name__}".replace("<lambda>", "lambda")
        fastmath = dispatcher.targetoptions.get("fastmath", False)
        super().__init__(name, parameters_of(dispatcher.py_func), self._blocks, fastmath)

    def _blocks(self, argtypes):
        return _without_lists(untyped_ir(self.dispatcher.py_func, argtypes, _UntypedTuples))


class DualTupleCode(DualCode):
    """The code for dual numbers."""

    def _blocks(self, argtypes):
        py_func = self.dual._compiler._get_implementation(argtypes, {})
        self.func_ir = untyped_ir(py_func, argtypes, _UntypedDualTuples, self.dual.locals)
        return _without_lists(self.func_ir)


def _without_lists(func_ir):
    """The blocks without lists that nothing refers to any more, which a GPU has no memory for."""
    blocks = func_ir.blocks.values()
    uses = Counter(
        name
        for block in blocks
        for statement in block.body
        if not isinstance(statement, ir.Del)
        for name in {var.name for var in statement.list_vars()}
    )
    for block in blocks:
        unused = {
            statement.target.name
            for statement in block.find_insts(ir.Assign)
            if is_expr(statement.value, "build_list") and uses[statement.target.name] == 1
        }
        block.body = [s for s in block.body if not _names(s) & unused]
    return func_ir.blocks


def _names(statement):
    """What a statement assigns or deletes."""
    if isinstance(statement, ir.Assign):
        return {statement.target.name}
    return {statement.value} if isinstance(statement, ir.Del) else set()


def read_as_tuples(fun, among_duals):
    """A right-hand side, or what stands for it where it returns lists or arrays written out."""
    return returning_tuples(fun)[among_duals] or fun


def tuple_stages(fun):
    """The stages of reverse mode in which a right-hand side is read so, whatever calls it."""
    known = remembered(fun, "tuple stages")
    if not known:
        known["stages"] = () if returning_tuples(fun)[False] is None else (_stage_of(fun),)
    return known["stages"]


def _stage_of(fun):
    @register_pass(mutates_CFG=False, analysis_only=False)
    class ReturnTuplesOfOne(ReturnTuples):
        retypes = True

        def run_pass(self, state):
            return state.func_id.func is fun.py_func and super().run_pass(state)

    return ReturnTuplesOfOne


def _for_duals(given):
    """A property whose device functions are taken as they are where there are duals."""

    def found(dispatcher):
        function = given.fget(dispatcher)
        function.handles_duals = True
        return function

    return property(found)


setattr(TupleDispatcher, HELD, device_function(TupleCode))
setattr(DualTupleDispatcher, HELD, _for_duals(device_function(DualTupleCode)))

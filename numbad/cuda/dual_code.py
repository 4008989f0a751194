"""Functions of dual numbers as device functions.

What a function for dual numbers mentions is replaced, and its allocations are promoted, by the passes that
do so for the CPU. They work on Numba's untyped IR, which goes on in numba-cuda's pipeline.
"""

import inspect
from types import SimpleNamespace

from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.registry import cpu_target as cpu
from numba.core.typed_passes import NopythonTypeInference

from ..forward.beside_roots import StrongProducts
from ..forward.dualize import DualCompiler, DualDispatcher
from ..ir.capture import Capture
from ..ir.function import is_expr
from ..operators.operator_dispatcher import OperatorDispatcher
from .compiler import DeviceCode
from .frontend import cpu_target
from .precision import is_single, make_single


def up_to_types(pm):
    """The passes that come before the inference of types, and one that stops."""
    steps = [step for step, _ in pm.passes]
    pm.passes = pm.passes[: steps.index(NopythonTypeInference)]
    pm.add_pass(Capture, "stop before the types")
    pm.finalize()
    return [pm]


class UntypedCode(CompilerBase):
    """Numba's passes that come before the inference of types."""

    def define_pipelines(self):
        return up_to_types(DefaultPassBuilder.define_nopython_pipeline(self.state))


class UntypedDuals(DualCompiler):
    """Those for dual numbers."""

    def define_pipelines(self):
        return up_to_types(*super().define_pipelines())


def untyped_ir(py_func, argtypes, compiler=UntypedCode, declared=None):
    """The untyped SSA IR of a Python function for these types of arguments, in which duals may be."""
    flags = Flags()
    flags.nrt = True
    with cpu_target():
        cpu.typing_context.refresh()
        cpu.target_context.refresh()
        contexts = cpu.typing_context, cpu.target_context
        made = compiler(*contexts, None, argtypes, None, flags, declared or {})
        func_ir = made.compile_extra(py_func).func_ir
    if is_single(argtypes):
        make_single(func_ir)
    return func_ir


class DualCode(DeviceCode):
    """The code of one function for dual numbers."""

    stands_for = DualDispatcher, OperatorDispatcher

    def __init__(self, dual):
        self.dual = dual
        name = f"dual_{dual.py_func.__name__}".replace("<lambda>", "lambda")
        fastmath = dual.targetoptions.get("fastmath", False)
        super().__init__(name, parameters_of(dual.py_func), self._blocks, fastmath, dual.py_func)

    def _blocks(self, argtypes):
        py_func = self.dual._compiler._get_implementation(argtypes, {})
        self.func_ir = untyped_ir(py_func, argtypes, UntypedDuals, self.dual.locals)
        return self.func_ir.blocks

    def typed(self, state, copies):
        """Products beside roots, which the types tell: found in the code that was copied."""
        given = SimpleNamespace(func_ir=self.func_ir, typemap=state.typemap)
        StrongProducts().run_pass(given)
        for node, copy in copies.nodes():
            if is_expr(node, "binop", "inplace_binop") and node.fn is not copy.fn:
                copy.fn = node.fn
                if node.op == "inplace_binop":
                    copy.immutable_fn = node.immutable_fn


def parameters_of(py_func):
    """The parameters of a function, without defaults."""
    parameters = inspect.signature(py_func).parameters.values()
    return [str(p.replace(default=p.empty, annotation=p.empty)) for p in parameters]

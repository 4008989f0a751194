"""The typed SSA IR of a function for given argument types, from Numba's own pipeline."""

import threading

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags, _EarlyPipelineCompletion
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import ForceLiteralArg
from numba.core.ir_utils import raise_on_unsupported_feature
from numba.core.registry import cpu_target
from numba.core.typed_passes import NopythonTypeInference
from numba.core.typing import signature
from numba.core.untyped_passes import InlineInlinables, MakeFunctionToJitFunction, ReconstructSSA

from ..compilation.linking import PLAIN
from ..compilation.memo import remembered
from ..rules.linalg.result_types import result_type as linalg_type
from ..rules.registry import rules_given
from .chosen import enter_overloads
from .complete_calls import CompleteCalls
from .declared import ConvertDeclared
from .dictionaries import MADE, TakeTables, as_dictionary, holds_floats, is_table, keep_lengths
from .extension_types import whole_type
from .fence import Place, of_inlined, refuse
from .function import Function, duplicate
from .picked import CallPicked
from .signatures import as_called
from .typing import Inference, plain_type
from .ways_out import LITERAL, OF_LITERAL


@register_pass(mutates_CFG=False, analysis_only=True)
class Capture(FunctionPass):
    """Stops the pipeline, once types are known."""

    _name = "numbad_capture"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        raise _EarlyPipelineCompletion(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class CaptureInference(Inference):
    """Inference that captures callees rather than compiling them: their machine code may never run."""

    _name = "numbad_capture_inference"

    def callee_type(self, dispatcher, args, kws):
        """The signature of a call of a dispatcher; None where it has to be compiled to know."""
        if type(dispatcher) not in PLAIN or dispatcher.locals:
            return None
        pysig, args = dispatcher.fold_argument_types(args, kws)
        args = tuple(map(plain_type, args))
        under_way = _capturing()
        retyping = _retyping(under_way[-1][2]) if under_way else ()
        compiled = args in dispatcher.overloads and not retyping
        if any((dispatcher, args) == each[:2] for each in under_way):
            return _of_dictionaries(dispatcher, pysig, args)
        if compiled:
            return None
        try:
            result = whole_type(result_type(capture(dispatcher, args, retyping)))
        except Exception:  # Numba's own way tells what is wrong, or gets by
            return None
        return signature(result, *args).replace(pysig=pysig)

    def function_type(self, function, args, kws):
        """The signature of a call of a function that is heavy to compile; None of another."""
        found = linalg_type(function, args, kws) if callable(function) else None
        return found and signature(found, *args)


def _of_dictionaries(dispatcher, pysig, args):
    """The signature of a function that calls itself with tables: Numba knows it of dictionaries."""
    if not any(map(is_table, args)):
        return None
    plain = tuple(map(as_dictionary, args))
    dispatcher.compile(plain)
    result = dispatcher.overloads[plain].signature.return_type
    return None if holds_floats(result) else signature(result, *args).replace(pysig=pysig)


@register_pass(mutates_CFG=False, analysis_only=False)
class CaptureTables(TakeTables):
    """Tables in place of dictionaries of floats; callees are captured to know what they return."""

    _name = "numbad_capture_tables"
    callee_type = CaptureInference.callee_type


_local = threading.local()


def _capturing():
    """What is being captured in this thread, and by which stages, outermost first."""
    if not hasattr(_local, "stack"):
        _local.stack = []
    return _local.stack


def _retyping(stages):
    """Those that change what a function returns: its callers are typed as after them."""
    return tuple(stage for stage in stages if getattr(stage, "retypes", False))


class CaptureCompiler(CompilerBase):
    stages = ()  # further passes over the untyped code
    with_tables = True  # of dictionaries of floats

    def define_pipelines(self):
        pm = DefaultPassBuilder.define_nopython_pipeline(self.state)
        own = {NopythonTypeInference: CaptureInference}
        # What has a rule, or is to be left alone, may be declared inline="always": it stays a call.
        kept = [entry for entry in pm.passes if entry[0] is not InlineInlinables]
        pm.passes = [(own.get(stage, stage), text) for stage, text in kept]
        pm.add_pass_after(ConvertDeclared, MakeFunctionToJitFunction)
        pm.add_pass_after(CompleteCalls, MakeFunctionToJitFunction)
        pm.add_pass_after(Capture, CaptureInference)
        keep_lengths(pm, self.state.args)
        if self.with_tables:
            pm.add_pass_after(CaptureTables, ReconstructSSA)
        pm.add_pass_after(CallPicked, ReconstructSSA)
        for stage in self.stages:
            pm.add_pass_after(stage, ReconstructSSA)
        pm.finalize()
        return [pm]


def capture(dispatcher, argtypes, stages=()):
    """The `Function` of a dispatcher's Python function for argument types.

    `stages` are further passes of Numba's kind, over the untyped SSA IR.

    Raises UnsupportedError for generators, and what Numba raises for code that it cannot type.
    """
    if hasattr(dispatcher, "numbad_code"):  # a part of a function whose code was captured
        return duplicate(dispatcher.numbad_code)
    argtypes = tuple(map(whole_type, argtypes))
    if hasattr(dispatcher, "numbad_core"):  # its code, which depends on the types
        dispatcher = dispatcher.numbad_core(argtypes)
    known = remembered(dispatcher, "captured")
    key = argtypes, stages, rules_given()
    if key not in known:
        _capturing().append((dispatcher, argtypes, stages))
        try:
            known[key] = _captured(dispatcher, argtypes, stages)
        finally:
            _capturing().pop()
    return enter_overloads(duplicate(known[key]))


def result_type(function):
    """The type that a captured function returns."""
    returned = [
        function.type_of(statement.value)
        for _, statement in function.statements()
        if isinstance(statement, ir.Return)
    ]
    context = cpu_target.typing_context
    return types.unliteral(context.unify_types(*returned)) if returned else types.none


def _captured(dispatcher, argtypes, stages):
    py_func = as_called(dispatcher, argtypes)
    try:
        return _capture(py_func, argtypes, dispatcher.locals, stages)
    except ForceLiteralArg as error:
        if len(_capturing()) > 1:  # the caller may have a literal to give
            raise
        refusal = refuse(LITERAL, error.loc, OF_LITERAL)
        refusal.asked = error.requested_args
        raise refusal from None
    except Exception as error:  # Numba wraps it in many ways
        if "re-entrant" not in str(error):
            raise
    dispatcher.compile(argtypes)  # a recursive function is typed by its own compilation
    return _capture(py_func, argtypes, dispatcher.locals, stages)


def _capture(py_func, argtypes, locals, stages, with_tables=True):
    flags = Flags()
    flags.nrt = True
    flags.error_model = "python"
    typingctx, targetctx = cpu_target.typing_context, cpu_target.target_context
    typingctx.refresh()
    targetctx.refresh()
    compiler = CaptureCompiler(typingctx, targetctx, None, argtypes, None, flags, locals or {})
    compiler.stages, compiler.with_tables = stages, with_tables
    try:
        state = compiler.compile_extra(py_func)
    except Exception as error:
        if isinstance(error, ForceLiteralArg) or not compiler.state.metadata.get(MADE):
            raise
        # What some callee does with a dictionary is not known of tables.
        return _capture(py_func, argtypes, locals, stages, with_tables=False)
    func_ir = state.func_ir
    if func_ir.is_generator:
        raise refuse("a generator", func_ir.loc, "fill an array or a list instead, or use a loop")
    raise_on_unsupported_feature(func_ir, state.typemap)
    return _function(func_ir, state)


def _function(func_ir, state):
    parameters = [None] * func_ir.arg_count
    blocks, called = {}, func_ir.func_id.func_name
    for label, block in func_ir.blocks.items():
        new = blocks[label] = ir.Block(block.scope, block.loc)
        for s in block.body:
            if isinstance(s, ir.Del):
                continue
            s.loc = Place.of(s.loc, called)
            if isinstance(s, ir.Assign) and isinstance(s.value, ir.Arg):
                parameters[s.value.index] = s.target.name
                continue
            if isinstance(s, ir.Assign) and isinstance(s.value, ir.FreeVar):
                s = ir.Assign(ir.Global(s.value.name, s.value.value, s.loc), s.target, s.loc)
            new.append(s)
    assigned = {s.target.name for b in blocks.values() for s in b.find_insts(ir.Assign)}
    for k, name in enumerate(parameters):
        if name is None:  # an argument that is never read, whose name another value may have
            own = func_ir.arg_names[k]
            parameters[k] = f"{own}.unread" if own in assigned else own
    known = dict(state.typemap)
    for name, ty in zip(parameters, state.args, strict=True):
        known.setdefault(name, ty)
    names = {name: own for name in known if (own := of_inlined(name)) is not None}
    calls = dict(state.calltypes)
    return Function(called, blocks, known, calls, parameters, func_ir.loc, names=names)

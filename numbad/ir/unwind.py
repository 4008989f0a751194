"""Lowering that frees, when an exception passes through a function, what the function holds.

Numba's own code does not: where a callee raises, the references that the caller's variables own are
lost, and the arrays with them. Here every path that leaves a function with an error runs through one
block that drops what its variables hold at that moment; a variable holds nothing (null) before it is
set and after its `del`, so the block needs no knowledge of where the error came from.
"""

import operator

from llvmlite import ir as ll
from numba.core import cgutils, ir
from numba.core.callconv import RETCODE_NONE, RETCODE_OK
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.debuginfo import DummyDIBuilder
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import BaseNativeLowering, NativeLowering

from ..debugging import debugging
from .debug_checks import refuse_nonfinite, refuse_strays
from .inlined_once import with_inlining
from .typing import are_numbers, signature_of

_RAISES = "numba_exception_output"
_ARITHMETIC = {  # whose code does not depend on what an operand is, where that is known
    *(operator.add, operator.sub, operator.mul, operator.truediv),
    *(operator.iadd, operator.isub, operator.imul, operator.itruediv),
}


class _Builder(ll.IRBuilder):
    """llvmlite's, which looks through the whole of a block for its last instruction.

    Every variable's slot goes before the last instruction of a function's first block.
    """

    def position_before(self, instr):
        if instr.parent.instructions[-1] is not instr:
            super().position_before(instr)
            return
        self.position_at_end(instr.parent)
        self._anchor -= 1


class UnwindingLower(Lower):
    """Numba's lowering, with one more block where there is something to free."""

    def __init__(self, context, *args, **kws):
        super().__init__(context, *args, **kws)
        self._owning = {}  # type -> which of its parts may hold references
        self._arithmetic = {}  # operation and types of its operands -> what writes its code
        self.checks = debugging() and context.target_name == "cpu"
        if self.checks:
            context.enable_boundscheck = True

    def setup_function(self, fndesc):
        super().setup_function(fndesc)
        self.builder.__class__ = _Builder

    def lower_assign(self, ty, inst):
        if self.checks:
            refuse_strays(self, inst.value)
        value = super().lower_assign(ty, inst)
        if self.checks:
            refuse_nonfinite(self, ty, value, inst)
        return value

    def lower_inst(self, inst):
        if self.checks and isinstance(inst, ir.SetItem | ir.StaticSetItem):
            refuse_strays(self, inst)
        super().lower_inst(inst)

    def lower_binop(self, resty, expr, op):
        """Arithmetic of numbers is looked up once for types, whether an operand is known or not."""
        operands = expr.lhs, expr.rhs
        given = [self.typeof(v.name) for v in operands]
        if op not in _ARITHMETIC or not are_numbers(given):
            return super().lower_binop(resty, expr, op)
        signature = self.fndesc.calltypes[expr]
        context, builder = self.context, self.builder
        pairs = zip(operands, given, signature.args, strict=True)
        values = [context.cast(builder, self.loadvar(v.name), own, ty) for v, own, ty in pairs]
        key = op, signature.args
        if key not in self._arithmetic:
            found = signature_of(context.typing_context, op, signature.args)
            self._arithmetic[key] = context.get_function(*found)
        result = self._arithmetic[key](builder, values)
        return context.cast(builder, result, signature.return_type, resty)

    def _find_singly_assigned_variable(self):
        """Variables that own references keep a slot in memory, where the last block finds them."""
        super()._find_singly_assigned_variable()
        self._local = set(filter(self._owns, self._singly_assigned_vars))
        self._singly_assigned_vars -= self._local
        self._set_in = {}  # variable -> the LLVM block that sets it
        self._brief = set()  # variables set and deleted with no way out in between

    def _owns(self, name):
        return self._may_own(self.typeof(name))

    def alloca_lltype(self, name, lltype, datamodel=None):
        """A variable's slot: only debug information asks for its size, which takes long to find."""
        if isinstance(self.debuginfo, DummyDIBuilder):
            return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)
        return super().alloca_lltype(name, lltype, datamodel)

    def storevar(self, value, name, argidx=None):
        super().storevar(value, name, argidx)
        self.note_set(name)

    def note_set(self, name):
        """A variable is set here."""
        self._set_in[name] = self.builder.block

    def delvar(self, name):
        self.note_deleted(name)
        super().delvar(name)

    def note_deleted(self, name):
        """A variable is deleted here."""
        if name in self._local and self._set_in.get(name) is self.builder.block:
            self._brief.add(name)

    def lower_function_body(self):
        tail = super().lower_function_body()
        if self.generator_info is not None:
            return tail  # what a generator holds is freed with it
        owners = sorted(filter(self._owns, self.varmap.keys() - self._brief))
        exits = [block for block in self.function.blocks if _is_error(block.terminator)]
        if owners and exits:
            self._free(owners, exits)
        return tail

    def _free(self, owners, exits):
        last = self.function.append_basic_block("unwind")
        self.builder.position_at_end(last)
        code = self.builder.phi(exits[0].terminator.operands[0].type)
        for name in owners:
            self.drop_owned(name)
        self.builder.ret(code)
        for block in exits:
            code.add_incoming(block.terminator.operands[0], block)
            self.builder.position_at_end(block)
            self.builder.remove(block.terminator)
            self.builder.branch(last)
        _unmark(self.function)

    def incref(self, typ, val):
        if self.context.enable_nrt:
            for ty, owned in self._references(typ, val):
                self.context.nrt.incref(self.builder, ty, owned)

    def decref(self, typ, val):
        if self.context.enable_nrt:
            for ty, owned in self._references(typ, val):
                self.context.nrt.decref(self.builder, ty, owned)

    def _references(self, ty, value):
        """The references in a value, each with its type; Numba itself takes out all other parts as well."""
        model = self.context.data_model_manager[ty]
        if model.has_nrt_meminfo():
            return [(ty, value)]
        parts = model.traverse(self.builder)
        if ty not in self._owning:
            self._owning[ty] = [k for k, (part, _) in enumerate(parts) if self._may_own(part)]
        chosen = (parts[k] for k in self._owning[ty])
        return [each for part, get in chosen for each in self._references(part, get(value))]

    def _may_own(self, ty):
        return self.context.data_model_manager[ty].contains_nrt_meminfo()

    def drop_owned(self, name):
        """Drop the reference that a variable holds."""
        self.decref(self.typeof(name), self.builder.load(self.varmap[name]))


def _is_error(terminator):
    if terminator is None or terminator.opname != "ret":
        return False
    (code,) = terminator.operands
    return not (isinstance(code, ll.Constant) and code in (RETCODE_OK, RETCODE_NONE))


def _unmark(function):
    """Take the mark off statements that raise.

    It allows Numba's pass that prunes reference counts to drop a pair of `incref` and `decref` where
    the `decref` is missing after such a statement; here it is not missing, and would be left over.
    """
    for block in function.blocks:
        for instruction in block.instructions:
            instruction.metadata.pop(_RAISES, None)


@register_pass(mutates_CFG=True, analysis_only=False)
class UnwindingLowering(BaseNativeLowering):
    """The pass in place of Numba's own."""

    _name = "numbad_unwinding_lowering"

    @property
    def lowering_class(self):
        return UnwindingLower


def nopython_pipeline(state, lowering=UnwindingLowering):
    """Numba's nopython pipeline with this lowering, or one made of it."""
    pm = with_inlining(DefaultPassBuilder.define_nopython_pipeline(state))
    pm.passes = [
        (lowering, description) if step is NativeLowering else (step, description)
        for step, description in pm.passes
    ]
    pm.finalize()
    return pm


class FreeingCompiler(CompilerBase):
    """Numba's nopython compiler with this lowering."""

    def define_pipelines(self):
        return [nopython_pipeline(self.state)]


def freeing(dispatcher):
    """A dispatcher of the same function that frees what it holds when it raises.

    Its callees are compiled as ever: of what these hold, Numba frees nothing.
    """
    if dispatcher._compiler.pipeline_class is not Compiler:
        return dispatcher
    known = vars(dispatcher)
    if "__numbad_freeing__" not in known:
        known["__numbad_freeing__"] = CPUDispatcher(
            dispatcher.py_func,
            locals=dispatcher.locals,
            targetoptions=dispatcher.targetoptions,
            pipeline_class=FreeingCompiler,
        )
    return known["__numbad_freeing__"]

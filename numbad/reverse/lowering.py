"""Lowering of the sweeps: few LLVM instructions for what they are full of.

Numba's own lowering is made for any type; for one element of an array of numbers it takes some
hundred instructions, which LLVM has to read and to remove again. The code is the same in the end.
"""

import operator
from collections import Counter
from functools import partial

from llvmlite import ir as ll
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_use_defs
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.imputils import force_error_model
from numba.core.postproc import PostProcessor
from numba.core.typed_passes import BaseNativeLowering
from numba.np import arrayobj

from ..lanes.varying import Varying
from ..masked_arrays import refused
from ..small_arrays import copied
from .aliasing import PRIMAL
from .cotangents import linear_flags, sum_flags
from .elements import element_pointer, load_marked, store_marked, view
from .frame_lowering import FrameLower
from .lifetimes import Lifetimes
from .not_inlined import compile_overload

NATURAL = "numbad_natural"  # the attribute of the blocks' IR with what is known of indices
_FLOAT = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul"}
_INTEGER = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}


def _is_of_floats(ty):
    """Whether a type is that of a float, or of floats in lanes."""
    return isinstance(ty.scalar if isinstance(ty, Varying) else ty, types.Float)


class SweepLower(FrameLower):
    """Elements of arrays, arithmetic and plain variables in as few instructions as they need."""

    def create_cpython_wrapper(self, release_gil=False):
        """What Python calls: small arrays that it returns are NumPy's own, masked arrays are refused."""
        with copied(), refused():
            super().create_cpython_wrapper(release_gil)

    def _find_singly_assigned_variable(self):
        """The variables without a slot: their value is known wherever they are read.

        They are set in the same block before, or once, where the function begins.
        """
        super()._find_singly_assigned_variable()
        uses = compute_use_defs(self.blocks).usemap.values()
        from_elsewhere, entry = set().union(*uses), min(self.blocks)
        targets = [
            (label, s.target.name)
            for label, block in self.blocks.items()
            for s in block.find_insts(ir.Assign)
        ]
        assigned = Counter(name for _, name in targets)
        self._by_one = self._ranges_by_one()
        begins = not any(entry in b.terminator.get_targets() for b in self.blocks.values())
        for label, name in targets:
            first = begins and label == entry and assigned[name] == 1
            if (first or name not in from_elsewhere) and not self._owns(name):
                self._singly_assigned_vars.add(name)

    def _ranges_by_one(self):
        """The variables that stand for nothing but ranges without a step."""
        found = {True: set(), False: set()}
        for block in self.blocks.values():
            for s in block.find_insts(ir.Assign):
                if isinstance(self.typeof(s.target.name), types.RangeType):
                    found[self._is_range_by_one(s.value)].add(s.target.name)
        return found[True] - found[False]

    def _is_range_by_one(self, value):
        called = isinstance(value, ir.Expr) and value.op == "call"
        function = getattr(self.typeof(value.func.name), "typing_key", None) if called else None
        return function is range and len(value.args) < 3 and value.vararg is None

    def lower_expr(self, resty, expr):
        model = getattr(expr.loc, "error_model", None)  # of a callee that was put in place
        if model is None:
            return self._lower_expr(resty, expr)
        with force_error_model(self.context, model):
            return self._lower_expr(resty, expr)

    def _lower_expr(self, resty, expr):
        if expr.op == "getiter" and expr.value.name in self._by_one:
            return self._iterator(resty, self.loadvar(expr.value.name))
        if expr.op == "iternext" and isinstance(
            self.typeof(expr.value.name), types.RangeIteratorType
        ):
            return self._next(resty, self.typeof(expr.value.name), self.loadvar(expr.value.name))
        if expr.op in ("pair_first", "pair_second") and isinstance(
            resty, types.Number | types.Boolean
        ):
            pair = self.loadvar(expr.value.name)
            return self.builder.extract_value(pair, int(expr.op == "pair_second"))
        if expr.op in ("unary", "binop", "inplace_binop"):
            self._learn(expr)
        if expr.op == "call":
            signature = self.fndesc.calltypes[expr]
            compile_overload(self.context.typing_context, self.typeof(expr.func.name), signature)
        return super().lower_expr(resty, expr)

    def _learn(self, expr):
        """Let an operator know types that it was captured with, before more was registered for it.

        Numba's type of a function is another one from there on, and learns in typing what it is called with.
        """
        fn, typing = expr.fn, self.context.typing_context
        if expr.op == "inplace_binop" and not self.typeof(expr.lhs.name).mutable:
            fn = expr.immutable_fn
        args = self.fndesc.calltypes[expr].args
        function = typing.resolve_value_type(fn)
        if args not in getattr(function, "_impl_keys", (args,)):
            function.get_call_type(typing, args, {})

    def _iterator(self, ty, over):
        """The iterator of a range without a step: its length needs no division."""
        builder = self.builder
        start, stop = (builder.extract_value(over, k) for k in range(2))
        some = builder.icmp_signed(">", stop, start)
        length = builder.select(some, builder.sub(stop, start), start.type(0))
        fields = {
            "iter": cgutils.alloca_once_value(builder, start),
            "stop": stop,
            "step": start.type(1),
            "count": cgutils.alloca_once_value(builder, length),
        }
        return self._struct(ty, fields)

    def _next(self, ty, iterator_type, iterator):
        """The next number of a range, and whether there is one; otherwise nobody asks for the number."""
        builder, model = self.builder, self.context.data_model_manager[iterator_type]
        current, step, count = (
            builder.extract_value(iterator, model.get_field_position(name))
            for name in ("iter", "step", "count")
        )
        value, left = builder.load(current), builder.load(count)
        builder.store(builder.add(value, step), current)
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), count)
        more = builder.icmp_signed(">", left, left.type(0))
        return self._struct(ty, {"first": value, "second": more})

    def _struct(self, ty, fields):
        model = self.context.data_model_manager[ty]
        struct = self.context.get_value_type(ty)(ll.Undefined)
        for name, value in fields.items():
            position = model.get_field_position(name)
            struct = self.builder.insert_value(struct, value, position)
        return struct

    def lower_binop(self, resty, expr, op):
        plain = self._instruction(resty, expr, op)
        if plain is None:
            return super().lower_binop(resty, expr, op)
        return plain(self.loadvar(expr.lhs.name), self.loadvar(expr.rhs.name))

    def _instruction(self, resty, expr, op):
        """The method of the builder that is all of an operation, or None."""
        tys = {types.unliteral(self.typeof(v.name)) for v in (expr.lhs, expr.rhs)}
        if tys == {resty} and _is_of_floats(resty) and op in _FLOAT:
            allowed = linear_flags if op is operator.mul else sum_flags
            flags = allowed(self.context) if "of_adjoints" in expr._kws else ()
            return partial(getattr(self.builder, _FLOAT[op]), flags=flags)
        if tys == {types.int64} and resty == types.int64 and op in _INTEGER:
            # as Numba: `i + 1` is known not to be negative where `i` is not
            return partial(getattr(self.builder, _INTEGER[op]), flags=["nsw"])
        return None

    def lower_getitem(self, resty, expr, value, index, signature):
        array = self.typeof(value.name)
        if resty == getattr(array, "dtype", None) and self._is_element(array, index):
            pointer = self._element(value, index)
            return self._load(array, pointer)
        if not self._is_view(array, index, resty):
            return super().lower_getitem(resty, expr, value, index, signature)
        shown = view(self.context, self.builder, *self._access(value, index), resty)
        self.incref(resty, shown)
        return shown

    def lower_setitem(self, target_var, index_var, value_var, signature):
        array, ty = self.typeof(target_var.name), self.typeof(value_var.name)
        if not (isinstance(ty, types.Number) and self._is_element(array, index_var)):
            return super().lower_setitem(target_var, index_var, value_var, signature)
        value = self.context.cast(self.builder, self.loadvar(value_var.name), ty, array.dtype)
        pointer = self._element(target_var, index_var)
        return self._store(array, value, pointer)

    def _load(self, array, pointer):
        if self._is_sweep():
            return load_marked(self.context, self.builder, array, pointer, PRIMAL)
        return arrayobj.load_item(self.context, self.builder, array, pointer)

    def _store(self, array, value, pointer):
        if self._is_sweep():
            return store_marked(self.context, self.builder, array, value, pointer, PRIMAL)
        return arrayobj.store_item(self.context, self.builder, array, value, pointer)

    def _is_sweep(self):
        """Whether what the code indexes are arrays of a primal; adjoints have functions of their own."""
        return hasattr(self.func_ir, NATURAL)

    def _is_element(self, array, index):
        """Whether an index is of one element of an array of numbers, and need not be checked."""
        if type(array) is not types.Array or not isinstance(array.dtype, types.Number):
            return False
        members = self._index_types(index)
        integers = all(isinstance(ty, types.Integer) for ty in members)
        return integers and len(members) == array.ndim and not self.context.enable_boundscheck

    def _is_view(self, array, index, result):
        """Whether an index of integers and slices without steps shows a part of an array."""
        if not (type(array) is type(result) is types.Array and array.dtype == result.dtype):
            return False
        members = self._index_types(index)
        slices = [type(ty) is types.SliceType and not ty.has_step for ty in members]
        known = all(
            k or isinstance(ty, types.Integer) for k, ty in zip(slices, members, strict=True)
        )
        fits = array.ndim - len(members) + sum(slices) == result.ndim and len(members) <= array.ndim
        return known and fits and not self.context.enable_boundscheck

    def _index_types(self, index):
        ty = self.typeof(index.name)
        return [types.unliteral(t) for t in (ty if isinstance(ty, types.BaseTuple) else [ty])]

    def _element(self, array, index):
        natural = getattr(self.func_ir, NATURAL, {}).get(index.name, ())
        return element_pointer(self.context, self.builder, *self._access(array, index), natural)

    def _access(self, array, index):
        """The types and values of an array, or of its place, and an index."""
        ty, index_type = self.typeof(array.name), self.typeof(index.name)
        return ty, self.place_or_value(array.name), index_type, self.loadvar(index.name)


@register_pass(mutates_CFG=False, analysis_only=True)
class PlaceDels(AnalysisPass):
    """Deletes the variables that own references where they are read last; others need no end."""

    _name = "numbad_place_dels"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        func_ir, models = state.func_ir, state.targetctx.data_model_manager
        owners = {name for name, ty in state.typemap.items() if models[ty].contains_nrt_meminfo()}
        func_ir.variable_lifetime = Lifetimes(func_ir.blocks, owners)
        PostProcessor(func_ir)._insert_var_dels()
        _leave_to_the_end(func_ir.blocks)
        return True


def _leave_to_the_end(blocks):
    """Delete nothing where an error will be raised: the block that errors run through does (`ir.unwind`)."""
    returning, before = set(), {label: [] for label in blocks}
    for label, block in blocks.items():
        for target in block.terminator.get_targets():
            before[target].append(label)
    found = [k for k, block in blocks.items() if isinstance(block.terminator, ir.Return)]
    while found:
        label = found.pop()
        if label not in returning:
            returning.add(label)
            found += before[label]
    for label in blocks.keys() - returning:
        block = blocks[label]
        block.body = [s for s in block.body if not isinstance(s, ir.Del)]


@register_pass(mutates_CFG=True, analysis_only=False)
class SweepLowering(BaseNativeLowering):
    """The pass that lowers the sweeps."""

    _name = "numbad_sweep_lowering"

    @property
    def lowering_class(self):
        return SweepLower

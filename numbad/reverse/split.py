"""The two sweeps as two functions that share a tape, for recursive callees.

The forward part ends with one more frame, of all that the reverse part needs of the function's body
outside its loops; the reverse part begins by reading it. Arrays that are returned keep their shadows: the
caller adds to them what it finds, before it calls the reverse part.
"""

from collections import Counter

from numba.core import ir, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic

from ..forward.retyped import in_duals
from ..ir.fence import refuse
from ..ir.leaves import at, leaves
from .arena import ShadowVector
from .names import TAPE, TOP, shadow_name
from .ops.lists import PLACES
from .shadow_types import element_type, struct_type
from .sweep import Sweep
from .value_tape import pop_frame, push_frame, read_frame


class SplitSweep(Sweep):
    """Builds the forward part or the reverse part."""

    takes_array_seeds = False

    def _find_references(self, stack):
        """Nothing: the forward part's stack is gone when the reverse part runs."""

    def build_forward(self):
        """Blocks of `(tape, top, args, shadows) -> (value, top, shadows of the arrays in the value)`."""
        e = self.e
        self._refuse_shared()
        for label in self.control.order:
            self.forward_block(label)
        e.start(self.block_at(self.seed_label))
        self._push(self.control.root)
        name = self.result.name
        shadows = self._shadows(self.fn.type_of(name), ())
        self._return(e.tuple([e.var(name), e.var(TOP), shadows]))
        self._parameters(("tape", "top", "args", "shadows"))
        for k, name in enumerate(self.fn.parameters):
            e.assign(ir.Expr.static_getitem(e.var("$args"), k, None, e.loc), e.var(name))
            self._parameter_shadows(k, name)
        return self._entered(self.forward_labels[self.fn.entry])

    def _refuse_shared(self):
        """What is returned shares no memory with arguments, nor with itself: the caller takes it for new."""
        arrays = [leaf for leaf in self.activity.returned if self._handle(leaf)]
        others = [(n, leaf.path) for n in self.fn.parameters for leaf in leaves(self.fn.type_of(n))]
        nodes = Counter(map(self.activity.node, arrays))
        if max(nodes.values(), default=0) > 1 or nodes.keys() & set(
            map(self.activity.node, others)
        ):
            raise refuse(
                "a recursive call that returns one of its arguments, a part of it, or one array twice",
                self.fn.blocks[self.exit].terminator.loc,
                "return a copy, `x.copy()`",
            )
        if nodes.keys() & self._read():  # the caller may write to it
            raise refuse(
                "a recursive call that returns an array which its adjoint reads",
                self.fn.blocks[self.exit].terminator.loc,
                "return a copy, `x.copy()`",
            )

    def _part(self, name, path):
        value = self.e.var(name)
        for k in path:
            value = self.e.item(value, k)
        return value

    def _read(self):
        """The nodes of the arrays that are in frames."""
        names = {name for frame in self.plan.frames.values() for name in frame}
        return {
            self.activity.node((name, leaf.path))
            for name in names
            if not isinstance(name, tuple) and self.fn.types.get(name) is not None
            for leaf in leaves(self.fn.type_of(name))
        }

    def _shadows(self, ty, path):
        e, leaf = self.e, (self.result.name, path)
        if isinstance(ty, types.BaseTuple):
            return e.tuple([self._shadows(t, (*path, k)) for k, t in enumerate(ty.types)])
        if not leaves(ty) or not self._handle(leaf):
            return e.none()
        if self.activity.active(leaf):
            return e.shadow(leaf)
        return e.new_shadow_of(self._part(*leaf), leaf)

    def build_reverse(self):
        """Blocks of `(tape, top, seed) -> (adjoints, top)`."""
        self.result = self.fn.blocks[self.exit].terminator.value
        self.seed_label = self.new_label()
        self._seed()
        for label in reversed(self.live):
            self._reverse_block(label)
        self._parameters(("tape", "top", "seed"))
        self._pop(self.control.root)
        self._zero_adjoints()
        return self._entered(self.seed_label)

    def _parameters(self, names):
        block = ir.Block(self.scope, self.e.loc)
        self.e.start(block)
        for k, name in enumerate(names):
            target = self.e.var(f"${name}")
            block.append(ir.Assign(ir.Arg(name, k, self.e.loc), target, self.e.loc))
        self._start = len(block.body)

    def _entered(self, label):
        block = self.e.block
        block.body[self._start : self._start] = self.e.prelude
        block.append(ir.Jump(label, self.e.loc))
        self.blocks[0] = block
        return self.blocks

    def _find_tables(self):
        """None: the reverse part knows the types of frames only as `_typed_frame` says."""
        return set()

    def _push(self, loop):
        """The types are given, as the reverse part has no other way to know them."""
        e = self.e
        frame = [e.call(cast_to(ty), e.var(name)) for name, ty in self._typed_frame(loop)]
        if frame:
            where = e.const(f"the recursive call of {self.fn.name}")
            e.assign(e.call(push_frame, e.var(TAPE), e.var(TOP), where, *frame), e.var(TOP))

    def _pop(self, loop):
        e = self.e
        frame = self._typed_frame(loop)
        if frame:
            samples = [e.call(sample_of(ty)) for _, ty in frame]
            e.assign(e.call(pop_frame, e.var(TOP), *samples), e.var(TOP))
            values = e.call(read_frame, e.var(TOP), *samples)
            for k, (name, _) in enumerate(frame):
                e.assign(e.item(values, k), e.var(name))

    def _typed_frame(self, loop):
        """Names and types of what a frame holds."""
        return [self._typed(name) for name in self.plan.frames[loop.header]]

    def _typed(self, name):
        if isinstance(name, tuple):
            leaf = at(self.fn.type_of(name[0]), name[1])
            if leaf.kind in ("object", "record"):
                record = leaf.kind == "record"
                struct = leaf.type if record else struct_type(leaf.type, self.e.number)
                return shadow_name(name), struct
            if leaf.kind == "list":
                return shadow_name(name), ShadowVector(element_type(leaf.type, self.e.dual))
            return shadow_name(name), self._raised(
                types.Array(leaf.type.dtype, leaf.type.ndim, "A")
            )
        if name in self.plan.extras and name.endswith(PLACES):
            return name, types.intp
        ty = self.plan.extra_types.get(name, self.fn.types.get(name))
        if name in self.plan.extras and ty is None:
            raise refuse(
                "a statement that keeps something of a type that is not known, in a recursive function",
                self.fn.loc,
            )
        if ty is None:
            return name, types.intp
        if isinstance(ty, types.Type):
            return name, self._raised(types.unliteral(ty))
        return name, ty(self._raised)

    def _raised(self, ty):
        dual = self.e.dual
        return ty if dual is None else in_duals(ty, dual(types.float64))

    def _finish(self):
        e = self.e
        self._return(e.tuple([e.tuple(self._adjoints()), e.var(TOP)]))

    def _return(self, pair):
        e = self.e
        e.append(ir.Return(e.assign(ir.Expr.cast(pair, e.loc)), e.loc))


def cast_to(ty):
    """An intrinsic that converts to a type."""

    @intrinsic
    def convert(typingctx, x):
        def codegen(context, builder, sig, args):
            value = context.cast(builder, args[0], sig.args[0], ty)
            return impl_ret_borrowed(context, builder, ty, value)

        return ty(x), codegen

    return convert


def sample_of(ty):
    """An intrinsic `() -> ty` that stands for a type; its value is all zero bits."""

    @intrinsic
    def sample(typingctx):
        return ty(), lambda context, builder, sig, args: context.get_constant_null(ty)

    return sample

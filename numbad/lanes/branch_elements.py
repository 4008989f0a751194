"""Elements of arrays that are read or written within a branch that lanes take differently.

Such an element may not exist where no lane comes to it. What is sure to exist is accessed by all lanes,
under the mask; other accesses lie in blocks of their own, which are passed by where no lane comes.
"""

from numba.core import ir, types
from numba.core.typing import signature

from ..ir.function import accessed, is_expr
from .choice import made_call, renamed
from .uniform import WAY_OUT, refuse
from .varying import anywhere, select

HARMLESS = 0.5
"""What the lanes compute with that do not come to a block."""

_REALS = types.Float | types.Integer | types.Boolean


def element_of(fn, s):
    """`(access, array)` of a statement that reads or writes one element of an array; None for another."""
    found = accessed(s)
    if found is None or not isinstance(fn.type_of(found[1]), types.Array):
        return None
    item = s.target if isinstance(s, ir.Assign) else s.value
    return found if isinstance(types.unliteral(fn.type_of(item)), _REALS) else None


def is_accessed(fn, s, blocks):
    """Whether one of these blocks accesses the element that a statement reads or writes."""
    mine = _key(fn, *element_of(fn, s))
    found = (element_of(fn, other) for block in blocks for other in block.body)
    return any(_key(fn, *other) == mine for other in found if other is not None)


def _key(fn, access, array):
    """What is equal for two accesses of the same element."""
    return _same(fn, array), _same(fn, access.index)


def _same(fn, var):
    """What is equal for variables that are sure to have the same value."""
    if not isinstance(var, ir.Var):
        return var
    value = fn.definition(var)
    if isinstance(value, ir.Var):
        return _same(fn, value)
    if isinstance(value, ir.Const):
        return value.value
    if is_expr(value, "build_tuple"):
        return tuple(_same(fn, item) for item in value.items)
    return var.name


def masked_write(fn, s, mask):
    """The statements that write an element in the lanes of a mask, and leave it as it is in the others."""
    array = s.target
    ty = fn.type_of(array)
    before = fn.fresh("$before", ty.dtype, s.loc)
    if isinstance(s, ir.StaticSetItem):
        read = ir.Expr.static_getitem(array, s.index, s.index_var, s.loc)
    else:
        read = ir.Expr.getitem(array, s.index, s.loc)
    index = s.index_var if isinstance(s, ir.StaticSetItem) else s.index
    tys = [ty, types.intp if index is None else fn.type_of(index)]
    fn.calls[read] = signature(ty.dtype, *tys)
    made = [ir.Assign(read, before, s.loc)]
    value = made_call(fn, made, select, ty.dtype, [mask, s.value, before], s.loc)
    if isinstance(s, ir.StaticSetItem):
        write = ir.StaticSetItem(array, s.index, s.index_var, value, s.loc)
    else:
        write = ir.SetItem(array, s.index, value, s.loc)
    fn.calls[write] = signature(types.none, *tys, ty.dtype)
    return [*made, write]


def harmless(ty):
    """What stands for a number that no lane has asked for; None for other types."""
    for kind, value in ((types.Float, HARMLESS), (types.Boolean, False), (types.Integer, 0)):
        if isinstance(ty, kind):
            return value
    return None


class Bypass:
    """A block to which the code comes where a mask holds in some lane, and the way around it."""

    def __init__(self, fn, before, mask, loc):
        self.fn, self.before, self.loc = fn, before, loc
        self.some = made_call(fn, fn.blocks[before].body, anywhere, types.boolean, [mask], loc)
        self.inside = self._new_block()

    def _new_block(self):
        label = self.fn.new_label()
        self.fn.blocks[label] = ir.Block(self.fn.scope, self.loc)
        return label

    def join(self, used):
        """End the block; the one where both ways meet, in which names that are `used` have some value."""
        fn, after, inner = self.fn, self._new_block(), {}
        for name in sorted(used):
            ty = types.unliteral(fn.type_of(name))
            instead = fn.fresh("$harmless", ty, self.loc)
            value = harmless(ty)
            if value is None:
                raise self._refusal(ty)
            const = ir.Const(value, self.loc)
            fn.blocks[self.before].append(ir.Assign(const, instead, self.loc))
            phi = ir.Expr.phi(self.loc)
            phi._kws["incoming_blocks"] = [self.inside, self.before]
            inner[name] = fn.fresh("$inside", ty, self.loc)
            phi._kws["incoming_values"] = [inner[name], instead]
            joined = ir.Var(fn.scope, name, self.loc)
            fn.blocks[after].append(ir.Assign(phi, joined, self.loc))
        inside = fn.blocks[self.inside]
        inside.body = [renamed(fn, s, inner) for s in inside.body]
        fn.blocks[self.before].append(ir.Branch(self.some, self.inside, after, self.loc))
        fn.blocks[self.inside].append(ir.Jump(after, self.loc))
        fn.changed()
        return after

    def _refusal(self, ty):
        what = f"what makes a {ty} beside an element of an array inside a branch that some may not take"
        return refuse(what, self.loc, WAY_OUT)

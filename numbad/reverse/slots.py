"""The slots of variables: of an array only what owns its memory is looked at, where it is dropped.

An array is seven fields or more, each of which LLVM follows by itself. A sweep drops what it holds in
many places, at each way out for one, where the other fields do not matter.
"""

from llvmlite import ir as ll
from numba.core import cgutils, types
from numba.np.arrayobj import make_array

from ..ir.unwind import UnwindingLower
from .elements import Parts

_OWNER = types.MemInfoPointer(types.voidptr)


class SlotLower(UnwindingLower):
    """Variables set and dropped with few instructions."""

    def storevar(self, value, name, argidx=None):
        """There is nothing to drop in what a plain variable held."""
        if argidx is not None or not self._has_slot(name):
            super().storevar(value, name, argidx)
        elif self._is_array(self.typeof(name)):
            self._drop(name)
            self._set(value, name)
        elif not self._owns(name):
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))
        else:
            super().storevar(value, name, argidx)

    def _set(self, value, name):
        self.builder.store(value, self.getvar(name))
        self.note_set(name)

    def delvar(self, name):
        if not self._owns(name):
            return
        if self._has_slot(name) and self._is_array(self.typeof(name)):
            self.note_deleted(name)
            owner = self._drop(name)
            self.builder.store(ll.Constant(owner.type.pointee, None), owner)
        else:
            super().delvar(name)

    def _drop(self, name):
        """Drop what a variable owns: the place of that."""
        owner = self._owner(name)
        super().decref(_OWNER, self.builder.load(owner))
        return owner

    def _owner(self, name):
        """The place of what an array owns, in its variable's slot."""
        model = self.context.data_model_manager[self.typeof(name)]
        index = ll.IntType(32)(model.get_field_position("meminfo"))
        return self.builder.gep(self.getvar(name), [index.type(0), index], inbounds=True)

    def drop_owned(self, name):
        if self._is_array(self.typeof(name)):
            self._drop(name)
        else:
            super().drop_owned(name)

    def lower_expr(self, resty, expr):
        if expr.op == "static_getitem" and self._is_member(expr):
            return self._member(resty, expr)
        if expr.op == "getattr" and expr.attr == "shape" and self._is_shown(expr.value.name):
            return make_array(self.typeof(expr.value.name))(
                self.context, self.builder, ref=self.getvar(expr.value.name)
            ).shape
        return super().lower_expr(resty, expr)

    def _is_shown(self, name):
        """Whether a variable is an array in a slot, where its shape can be read."""
        return self._is_array(self.typeof(name)) and self._is_in_slot(name)

    def place_or_value(self, name):
        """Where a variable lies, or its value if it has no slot."""
        return self.getvar(name) if self._is_in_slot(name) else self.loadvar(name)

    def _is_in_slot(self, name):
        return self._has_slot(name) and name not in self._blk_local_varmap

    def _is_member(self, expr):
        """Whether this is a member of a tuple in a slot: the others need not be read."""
        name = expr.value.name
        is_tuple = isinstance(self.typeof(name), types.BaseTuple) and type(expr.index) is int
        return is_tuple and self._is_in_slot(name)

    def _member(self, resty, expr):
        ty, index = self.typeof(expr.value.name), expr.index
        index %= len(ty)
        place = cgutils.gep_inbounds(self.builder, self.getvar(expr.value.name), 0, index)
        value = self.context.cast(self.builder, self.builder.load(place), ty[index], resty)
        self.incref(resty, value)
        return value

    def incref(self, typ, value):
        super().incref(*self._counted(typ, value))

    def decref(self, typ, value):
        super().decref(*self._counted(typ, value))

    def _counted(self, typ, value):
        """Of an array of numbers, what has the count; its other fields are not looked through."""
        if not self._is_array(typ):
            return typ, value
        return _OWNER, Parts(self.context, self.builder, typ, value)["meminfo"]

    def _is_array(self, ty):
        return type(ty) is types.Array and isinstance(ty.dtype, types.Number)

    def _has_slot(self, name):
        return name not in self._singly_assigned_vars or self._disable_sroa_like_opt

"""Frames of the tape lowered value by value.

Their functions take and return all values of a frame as one tuple. LLVM takes tuples apart member by
member, each time that they are read, so that its time grows with the cube of their size: 120 s for the
75 arrays that an iteration of an LSTM of two layers records, 4 s without a tuple.
"""

from llvmlite import ir as ll
from numba.core import ir

from ..ir.function import is_expr
from . import frame_table, value_tape
from .slots import SlotLower

_BY_TYPES = {
    value_tape.pop_frame: 1,
    frame_table.reserve: 4,
    frame_table.above: 2,
    frame_table.below: 2,
}
"""The functions that look at the types of a frame alone, and how many arguments stand before it."""


class FrameLower(SlotLower):
    """Calls that record and read frames, without tuples of their values."""

    def _find_singly_assigned_variable(self):
        super()._find_singly_assigned_variable()
        local = self._singly_assigned_vars | self._local
        self._frames = {}  # variable -> the types and values of the frame that it stands for
        self._read = self._read_frames() & local

    def _read_frames(self):
        """The variables that stand for frames read, and for nothing else than their members."""
        found, otherwise = set(), set()
        for block in self.blocks.values():
            for s in block.body:
                value = getattr(s, "value", None)
                if isinstance(s, ir.Assign) and self._called(value) in (
                    value_tape.read_frame,
                    frame_table.get,
                ):
                    found.add(s.target.name)
                elif not isinstance(s, ir.Del) and not is_expr(value, "static_getitem"):
                    otherwise.update(v.name for v in s.list_vars())
        return found - otherwise

    def _called(self, value):
        """The function of the tape's that is called, or None."""
        if not is_expr(value, "call") or value.vararg is not None:
            return None
        return getattr(self.typeof(value.func.name), "typing_key", None)

    def lower_inst(self, inst):
        if isinstance(inst, ir.Assign) and inst.target.name in self._read:
            self._frames[inst.target.name] = self._frame(inst.value)
        else:
            super().lower_inst(inst)

    def delvar(self, name):
        if name not in self._read:  # what is read owns nothing
            super().delvar(name)

    def _frame(self, call):
        """The types and values of a frame that is read."""
        tys = self._frame_types(call)
        if self._called(call) is value_tape.read_frame:
            return tys, value_tape.read_values(
                self.context, self.builder, tys, self._plain(call, 1)[0]
            )
        return tys, frame_table.read_values(self.context, self.builder, tys, *self._plain(call, 2))

    def _frame_types(self, call):
        """The types of the values, which are the call's last argument."""
        return list(self.fndesc.calltypes[call].args[-1])

    def _plain(self, call, count):
        """The arguments before the values."""
        signature = self.fndesc.calltypes[call]
        return [
            self._as(v, ty) for v, ty in zip(call.args[:count], signature.args[:count], strict=True)
        ]

    def _as(self, var, ty):
        value = self.loadvar(var.name)
        return self.context.cast(self.builder, value, self.typeof(var.name), ty)

    def lower_expr(self, resty, expr):
        if expr.op == "static_getitem" and expr.value.name in self._frames:
            tys, values = self._frames[expr.value.name]
            k = expr.index
            return self.context.cast(self.builder, values[k], tys[k], resty)
        called = self._called(expr)
        if called in _BY_TYPES:
            return self._by_types(expr, _BY_TYPES[called])
        if called in (value_tape.push_frame, frame_table.put):
            return self._record(expr, called)
        return super().lower_expr(resty, expr)

    def _by_types(self, call, count):
        """A call that does not ask for the values."""
        signature = self.fndesc.calltypes[call]
        given = ll.Constant(self.context.get_value_type(signature.args[-1]), ll.Undefined)
        function = self.context.get_function(self.typeof(call.func.name), signature)
        return function(self.builder, [*self._plain(call, count), given], self.loc)

    def _record(self, call, function):
        """Record values."""
        context, builder, tys = self.context, self.builder, self._frame_types(call)
        before = len(call.args) - len(tys)
        values = [self._as(v, ty) for v, ty in zip(call.args[before:], tys, strict=True)]
        if function is frame_table.put:
            frame_table.put_values(context, builder, tys, *self._plain(call, 2), values)
            return context.get_dummy_value()
        where = self.fndesc.calltypes[call].args[2].literal_value
        return value_tape.push_values(context, builder, tys, *self._plain(call, 2), where, values)

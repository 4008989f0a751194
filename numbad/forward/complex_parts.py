"""The real and imaginary parts of arrays of complex dual numbers.

In NumPy they are views. The parts of dual numbers do not lie one behind the other, so that here they are
copies, which is the same as long as nobody writes to a part, or to the array while its part is in use.
That is read off the code; the other programs are refused.
"""

import inspect
import operator
from weakref import WeakSet

import numpy as np
from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.ir_utils import build_definitions
from numba.extending import register_jitable

from ..ir.function import accessed
from ..ir.untyped import constant_of
from ..source import define
from . import dual as d
from . import known, number_views
from .copies import Use, statements
from .dual_arrays import dtype_of_type, is_dual_array
from .entered import attribute, attribute_of
from .given_code import given_attribute
from .optional_arrays import overload_stand_in
from .promote import refresh
from .refuse import refused_call

_FUNCTIONS = {np.real: "real", np.imag: "imag"}
_OWN = WeakSet()  # implementations of stand-ins, which say `z.real` themselves


def _is_complex(ty):
    return isinstance(ty, types.Array) and isinstance(d.base_scalar(ty.dtype), types.Complex)


def _is_complex_dual(ty):
    return _is_complex(ty) and isinstance(ty.dtype, d.Dual)


def _jitable(source):
    made = register_jitable(define(source, {}))
    _OWN.add(made)
    return made


class Part:
    """The stand-ins for `z.real` or `z.imag`, and for its items, `z.real[i]`.

    `copied(type)` tells for which types it is a copy; `own(type)` is what it is for the others.
    """

    def __init__(self, attribute, told, copied, own):
        self.attribute, self.told, self.copied, self.own = attribute, told, copied, own
        self.of_number = _jitable(f"def of_number(z):\n    return z.{attribute}\n")
        parts = "v, z.imag" if attribute == "real" else "z.real, v"
        self.put_in = _jitable(f"def put_in(z, v):\n    return complex({parts})\n")
        self.copy, self.refusal = self._stand_in(self._copy), self._stand_in(self._refusal)
        self.item = self._stand_in(self._item, "getitem")
        self.item_or_refusal = self._stand_in(self._item_or_refusal, "getitem")
        self.set_item = self._stand_in(self._set_item, "setitem")
        known.STANDS_FOR[self.set_item] = operator.setitem  # what is put there, the array holds

    def _stand_in(self, typed, name=None):
        def stand_in(*args):
            raise NotImplementedError

        def marked(*args):
            implementation = typed(*args)
            _OWN.add(implementation)
            return implementation

        marked.__signature__ = inspect.signature(typed)
        overload_stand_in(stand_in, strict=False)(marked)
        return known.named(stand_in, name or self.attribute)

    def _copy(self, z):
        if not self.copied(z):
            return self._of_others(z)
        of_number = self.of_number
        real = d.base_scalar(z.dtype).underlying_float
        dual = isinstance(z.dtype, d.Dual)
        dtype = dtype_of_type(d.with_base(z.dtype, real) if dual else real)

        def copied(z):
            out = np.empty(z.shape, dtype())
            for index in np.ndindex(z.shape):
                out[index] = of_number(z[index])
            return out

        return copied

    def _refusal(self, z):
        return self._refuse() if self.copied(z) else self._of_others(z)

    def _of_others(self, z):
        """The attribute of a value that is not copied; others may have given it to a type of theirs."""
        if isinstance(z, types.Array) or given_attribute(z, self.attribute) is None:
            return self.own(z)
        given = attribute(self.attribute)
        return lambda z: given(z)

    def _refuse(self):
        part = f"z.{self.attribute}.copy(), or the parts of single elements, z[i].{self.attribute}"
        raise refused_call(
            f"the {self.told} part of an array of complex numbers that is written to, returned, or used "
            "after a write to the array",
            None,
            f"take a copy, {part}",
        )

    def _item(self, z, index):
        """One number alone needs no copy of the others."""
        part = self.copy
        if self.copied(z):
            return lambda z, index: part(z[index])
        return lambda z, index: part(z)[index]

    def _item_or_refusal(self, z, index):
        return self._refuse() if self.copied(z) and _is_view(z, index) else self._item(z, index)

    def _set_item(self, z, index, v):
        if not self.copied(z):
            part = self.refusal  # no copy
            return lambda z, index, v: operator.setitem(part(z), index, v)
        put_in = self.put_in
        if _is_number(z, index):

            def set_item(z, index, v):
                z[index] = put_in(z[index], v)

            return set_item
        return _set_view(put_in, index, v) if _is_view(z, index) else self._refuse()


def _set_view(put_in, index, v):
    whole = isinstance(index, types.EllipsisType)  # which Numba takes no array by, as a variable
    shown = register_jitable((lambda z, index: z) if whole else (lambda z, index: z[index]))

    def of_number(z, index, v):
        view = shown(z, index)
        for k in np.ndindex(view.shape):
            view[k] = put_in(view[k], v)

    def of_array(z, index, v):
        view = shown(z, index)
        given = np.broadcast_to(v, view.shape)
        for k in np.ndindex(view.shape):
            view[k] = put_in(view[k], given[k])

    return of_array if isinstance(v, types.Array) else of_number


def _indices(index):
    return index.types if isinstance(index, types.BaseTuple) else [index]


def _is_number(z, index):
    """Whether an index takes a number out of an array."""
    kinds = _indices(index)
    return len(kinds) == z.ndim and all(isinstance(ty, types.Integer) for ty in kinds)


def _is_view(z, index):
    """Whether what an index takes of an array shares its memory."""
    fancy = any(isinstance(ty, types.Array | types.List) for ty in _indices(index))
    return not fancy and not _is_number(z, index)


def _is_real(ty):
    return isinstance(ty, types.Array) and isinstance(
        d.base_scalar(ty.dtype), types.Integer | types.Float | types.Boolean
    )


def _own_real(z):
    return (lambda z: z) if _is_real(z) else (lambda z: z.real)


def _own_imag(z):
    if is_dual_array(z):
        return lambda z: np.zeros(z.shape)
    return (lambda z: np.zeros_like(z)) if _is_real(z) else (lambda z: z.imag)


def _parts(copied):
    return {
        "real": Part("real", "real", copied, _own_real),
        "imag": Part("imag", "imaginary", copied, _own_imag),
    }


PARTS_OF_DUALS = _parts(_is_complex_dual)
PARTS_OF_ALL = _parts(_is_complex)


@register_pass(mutates_CFG=False, analysis_only=False)
class TakeParts(FunctionPass):
    """Puts copies, or refusals, where code asks something for its real or imaginary part."""

    _name = "numbad_take_parts"
    of_all = False  # whether arrays without dual numbers are copied, too

    def asked(self, func_ir, value):
        found = _asked(func_ir, value, PARTS_OF_ALL if self.of_all else PARTS_OF_DUALS)
        if found is None and isinstance(value, ir.Expr) and value.op == "call":
            return number_views.asked(func_ir, value, self.of_all)
        return found

    def __init__(self):
        FunctionPass.__init__(self)

    def is_needed(self, state):
        return any(True for ty in state.args for _ in d.duals_in(ty))

    def run_pass(self, state):
        if not self.is_needed(state):
            return False
        found = {
            s.target.name: asked
            for s in statements(state.func_ir.blocks)
            if isinstance(s, ir.Assign)
            and (asked := self.asked(state.func_ir, s.value)) is not None
        }
        if found:
            _Rewriting(state, found).run()
            refresh(state)
        return bool(found)


@register_pass(mutates_CFG=False, analysis_only=False)
class CopyParts(TakeParts):
    """The same for complex arrays of any kind: for code that becomes one of dual numbers."""

    _name = "numbad_copy_parts"
    of_all = True

    def is_needed(self, state):
        function = state.func_id.func
        return function not in _OWN and function not in number_views.OWN


def _asked(func_ir, value, parts):
    """`(what is asked, which part)` where an expression asks something for its part."""
    if not isinstance(value, ir.Expr):
        return None
    if value.op == "getattr" and value.attr in parts:
        known = constant_of(func_ir, value.value) is not None  # `np.real` itself
        return None if known else (value.value, parts[value.attr])
    if value.op == "call" and len(value.args) == 1 and not value.kws and value.vararg is None:
        called = constant_of(func_ir, value.func)
        name = _FUNCTIONS.get(_hashable(called), attribute_of(called))
        return (value.args[0], parts[name]) if name in parts else None
    return None


def _hashable(value):
    try:
        hash(value)
    except TypeError:
        return None
    return value


class _Rewriting:
    """Puts stand-ins where a function's code asks for parts, or for items of parts."""

    def __init__(self, state, found):
        self.func_ir, self.found = state.func_ir, found
        direct = [s for s in statements(state.func_ir.blocks) if self._part_indexed(s) is not None]
        self.use = Use(state.func_ir, state.args, direct, self._other_parts)
        self.needed = {name for s in statements(state.func_ir.blocks) for name in self.use.names(s)}

    def run(self):
        new = {label: self._block(block) for label, block in self.func_ir.blocks.items()}
        for label, block in self.func_ir.blocks.items():
            block.body = new[label]
        self.func_ir._definitions = build_definitions(self.func_ir.blocks)

    def _other_parts(self, name):
        """The names of imaginary parts for that of a real part, and the other way round."""
        _, own = self.found.get(name, (None, None))  # none for an item, which may be a row
        kinds = {name: part for name, (_, part) in self.found.items() if isinstance(part, Part)}
        return {n for n, part in kinds.items() if isinstance(own, Part) and part is not own}

    def _part_indexed(self, statement):
        """The part of which a statement reads or writes an item; None if it does something else."""
        access, base = accessed(statement) or (None, None)
        owner, part = (
            self.found.get(base.name, (None, None)) if access is not None else (None, None)
        )
        return (owner, part) if isinstance(part, Part) else None

    def _block(self, block):
        body = []
        for statement in block.body:
            if (indexed := self._part_indexed(statement)) is not None:
                self._item(body, statement, *indexed)
            elif isinstance(statement, ir.Assign) and statement.target.name in self.found:
                if statement.target.name in self.needed:
                    owner, part = self.found[statement.target.name]
                    fn = part.copy if self._is_safe(statement) else part.refusal
                    _call(body, statement.target, fn, [owner], statement.loc)
            else:
                body.append(statement)
        return body

    def _item(self, body, statement, owner, part):
        loc = statement.loc
        if isinstance(statement, ir.Assign):
            fn = part.item if self._is_safe(statement) else part.item_or_refusal
            index = _index(body, statement.value, owner.scope)
            _call(body, statement.target, fn, [owner, index], loc)
        else:
            index, nothing = (
                _index(body, statement, owner.scope),
                owner.scope.redefine("$none", loc),
            )
            _call(body, nothing, part.set_item, [owner, index, statement.value], loc)

    def _is_safe(self, statement):
        return self.use.is_as_if_shared(statement)


def _index(body, access, scope):
    """The variable of an index; a constant one gets a variable."""
    if isinstance(access.index, ir.Var):
        return access.index
    if access.index_var is not None:
        return access.index_var
    index = scope.redefine("$numbad_index", access.loc)
    body.append(ir.Assign(ir.Const(access.index, access.loc), index, access.loc))
    return index


def _call(body, target, fn, args, loc):
    name = target.scope.redefine("$numbad_part", loc)
    body.append(ir.Assign(ir.Global("part", fn, loc), name, loc))
    body.append(ir.Assign(ir.Expr.call(name, args, (), loc), target, loc))

"""What code in LLVM instructions does with the parts of extension types, as Python code.

A constructor of an extension type is written in instructions (`lower_builtin`, `@intrinsic`), which no
derivative can enter. Most only put their arguments into a struct. The instructions are emitted once
and followed: where they move numbers and add, subtract, multiply or negate them, without a branch,
the same is said in Python. Of anything else nothing is known.
"""

import math

from llvmlite import ir as ll
from numba import njit
from numba.core import types
from numba.core.registry import cpu_target

from ..source import define
from .extension_types import is_extension, members_of, parts_type

_ARITHMETIC = {"fadd": "+", "fsub": "-", "fmul": "*"}
_LONGEST = 10_000  # characters of an expression, in which what is used twice stands twice
_KNOWN = {}


class NotFollowedError(Exception):
    """Instructions that do what is not followed."""


class Moved:
    """A value that is no number (an array, say), or a part of one: it is moved as it is."""

    def __init__(self, source, path=()):
        self.source, self.path = source, path


def dispatcher_of(ty, signature, args):
    """The jitted helper for a call with arguments of these types, or None if it is not followed.

    `signature` is what Numba calls the function of type `ty` with.
    """
    key = ty, signature, tuple(map(types.unliteral, args))
    if key not in _KNOWN:
        try:
            _KNOWN[key] = _helper(ty, signature, args)
        except NotFollowedError:
            _KNOWN[key] = None
    return _KNOWN[key]


def _helper(ty, signature, args):
    cpu_target.target_context.refresh()
    context = cpu_target.target_context.subtarget(enable_nrt=True)
    numba_types = signature.args
    function, builder = _function(context, numba_types)
    with context.push_code_library(context.codegen().create_library("numbad_traced")):
        result = _emitted(context, builder, ty, signature, function.args)
    names = [f"a{k}" for k in range(len(args))]
    values = [
        _given(context, t, _cast(name, own, t))
        for name, own, t in zip(names, args, numba_types, strict=True)
    ]
    followed = _Followed(function, values)
    namespace = {}
    expression = _source(signature.return_type, followed.value(result), namespace)
    name = getattr(getattr(ty, "typing_key", None), "__name__", "made")
    lines = f"def {name}({', '.join(names)}):\n    return {expression}\n"
    return njit(define(lines, namespace))


def _emitted(context, builder, ty, signature, args):
    try:
        return context.get_function(ty, signature)(builder, args)
    except Exception as error:  # code of others, which asks what there is not here
        raise NotFollowedError from error


def _function(context, tys):
    module = ll.Module("numbad_traced")
    llvm = [context.get_value_type(t) for t in tys]
    function = ll.Function(module, ll.FunctionType(ll.VoidType(), llvm), "traced")
    return function, ll.IRBuilder(function.append_basic_block("entry"))


def _cast(name, own, wanted):
    """The source of an argument, converted as Numba does before the call."""
    own, wanted = types.unliteral(own), types.unliteral(wanted)
    if parts_type(own) == parts_type(wanted):
        return name
    if isinstance(own, types.Integer | types.Boolean) and wanted == types.float64:
        return f"float({name})"
    raise NotFollowedError


def _given(context, ty, source):
    """What is known of an argument: the source of a number, a list of those of members."""
    if is_extension(ty):
        parts = parts_type(ty)
        return [
            _given(context, t, f"{source}.{name}")
            for (_, t), name in zip(members_of(ty), parts.fields, strict=True)
        ]
    if isinstance(ty, types.BaseTuple):
        return [_given(context, t, f"{source}[{k}]") for k, t in enumerate(ty)]
    if isinstance(ty, types.Float | types.Integer | types.Boolean):
        return source
    return Moved(source)


def _source(ty, value, namespace):
    """The source of a value of a type."""
    if is_extension(ty) or isinstance(ty, types.BaseNamedTuple):
        cls = parts_type(ty).instance_class
        name = f"{cls.__name__}_{len(namespace)}"
        namespace[name] = cls
        members = [t for _, t in members_of(ty)] if is_extension(ty) else list(ty)
        return f"{name}({', '.join(_members_source(members, value, namespace))})"
    if isinstance(ty, types.BaseTuple):
        return f"({''.join(f'{x}, ' for x in _members_source(ty, value, namespace))})"
    if isinstance(value, list):
        return _moved_whole(value)
    if isinstance(value, Moved):
        if value.path:
            raise NotFollowedError
        return value.source
    if value is None:
        raise NotFollowedError
    return value


def _members_source(tys, value, namespace):
    if not isinstance(value, list) or len(value) != len(tys):
        raise NotFollowedError
    return [_source(t, v, namespace) for t, v in zip(tys, value, strict=True)]


def _moved_whole(value):
    """The source of what was taken apart and put together again as it was."""
    sources = {part.source if isinstance(part, Moved) else None for part in value}
    paths = [part.path if isinstance(part, Moved) else None for part in value]
    if len(sources) != 1 or paths != [(k,) for k in range(len(value))] or None in sources:
        raise NotFollowedError
    return sources.pop()


class _Followed:
    """The values of a function's instructions, in one block."""

    def __init__(self, function, given):
        if len(function.blocks) != 1:
            raise NotFollowedError
        self.known = dict(zip(map(id, function.args), given, strict=True))
        self.memory = {}  # what is at an address, by the instruction that allocates it
        for instruction in function.blocks[0].instructions:
            follow = _FOLLOWED.get(type(instruction), _Followed._unknown)
            self.known[id(instruction)] = follow(self, instruction)

    def value(self, x):
        """What is known of an LLVM value; None of what is not."""
        if isinstance(x, ll.Constant):
            return _constant(x.type, x.constant)
        return self.known.get(id(x))

    def _unknown(self, instruction):
        operands = getattr(instruction, "operands", ())
        if any(isinstance(x.type, ll.PointerType) for x in operands):
            raise NotFollowedError  # which may write there
        sign = _ARITHMETIC.get(instruction.opname)
        values = [self.value(x) for x in operands]
        if not all(isinstance(v, str) for v in values):
            return None
        if instruction.opname == "fneg":
            return f"(-{values[0]})"
        if instruction.opname == "sitofp" and isinstance(instruction.type, ll.DoubleType):
            return f"float({values[0]})"
        if sign is None or sum(map(len, values)) > _LONGEST:
            return None
        return f"({values[0]} {sign} {values[1]})"

    def _allocate(self, instruction):
        pointee = instruction.type.pointee
        self.memory[id(instruction)] = _empty(pointee)
        return id(instruction), ()

    def _address(self, instruction):
        base = self.value(instruction.pointer)
        if not isinstance(base, tuple) or not all(
            isinstance(i, ll.Constant) for i in instruction.indices
        ):
            raise NotFollowedError
        first, *rest = [i.constant for i in instruction.indices]
        if first != 0:
            raise NotFollowedError
        return base[0], (*base[1], *rest)

    def _store(self, instruction):
        value, pointer = instruction.operands
        place = self.value(pointer)
        if not isinstance(place, tuple):
            raise NotFollowedError
        self.memory[place[0]] = _placed(self.memory[place[0]], place[1], self.value(value))

    def _load(self, instruction):
        place = self.value(instruction.operands[0])
        if not isinstance(place, tuple):
            raise NotFollowedError
        return _part(self.memory[place[0]], place[1])

    def _insert(self, instruction):
        whole, value = (self.value(x) for x in instruction.operands)
        if whole is None:
            whole = _empty(instruction.type)
        return _placed(whole, tuple(instruction.indices), value, instruction.type)

    def _extract(self, instruction):
        return _part(self.value(instruction.operands[0]), tuple(instruction.indices))

    def _call(self, instruction):
        name = getattr(instruction.callee, "name", "")
        if not name.startswith("NRT_incref") and not name.startswith("NRT_decref"):
            raise NotFollowedError


_FOLLOWED = {
    ll.AllocaInstr: _Followed._allocate,
    ll.GEPInstr: _Followed._address,
    ll.StoreInstr: _Followed._store,
    ll.LoadInstr: _Followed._load,
    ll.InsertValue: _Followed._insert,
    ll.ExtractValue: _Followed._extract,
    ll.CallInstr: _Followed._call,
}


def _constant(ty, value):
    if isinstance(ty, ll.DoubleType) and isinstance(value, float) and math.isfinite(value):
        return f"({value!r})"
    return _zeros(ty) if value is None else _empty(ty)


def _zeros(ty):
    """What is known of a constant that is all zeros."""
    if getattr(ty, "elements", None):
        return [_zeros(t) for t in ty.elements]
    return "0.0" if isinstance(ty, ll.DoubleType) else None


def _empty(ty):
    """What is known of a struct before anything is put into it."""
    count = len(getattr(ty, "elements", ()))
    return [_empty(t) for t in ty.elements] if count else None


def _part(value, path):
    for k in path:
        if isinstance(value, Moved):
            value = Moved(value.source, (*value.path, k))
        elif isinstance(value, list):
            value = value[k]
        else:
            return None
    return value


def _placed(whole, path, value, ty=None):
    """A copy with a value at a place."""
    if not path:
        return value
    if isinstance(whole, Moved):
        raise NotFollowedError
    changed = list(whole or ())
    changed[path[0]] = _placed(changed[path[0]], path[1:], value)
    return changed

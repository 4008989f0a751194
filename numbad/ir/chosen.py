"""Calls of the implementations that Numba's typing chose among the overloads of others.

`p + q` of two namedtuples joins them, unless somebody's `@overload(operator.add)` adds them. Neither the
name of an expression nor its types tell which: only Numba's choice does.
"""

import operator
from functools import lru_cache
from types import FunctionType
from typing import NamedTuple

from numba import njit
from numba.core import ir, types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.core.typing import signature

from ..rules.registry import CONSTANT, JVP, SCALAR, STOPPING, VJP
from . import traced
from .extension_types import holds_extension, is_extension, parts_of, parts_type
from .fence import refuse
from .function import is_expr, operands, unary_function
from .spelling import spell

_OWN = {None, "builtins", "numba", "numbad"}
_RULES = JVP, VJP, STOPPING


def enter_overloads(fn):
    """Call, in place of every expression for which an overload of others was chosen, its code."""
    for block in fn.blocks.values():
        body = []
        for s in block.body:
            s = _attribute_by_name(fn, s)
            body += _called(fn, s) or [s]
        block.body = body
    fn.changed()
    if any(map(holds_extension, fn.types.values())):
        _take_apart(fn)
    return fn


def _attribute_by_name(fn, s):
    """`getattr(x, "name")` is `x.name`: what others give as that attribute is looked for by its name."""
    call = s.value if isinstance(s, ir.Assign) else None
    if not is_expr(call, "call") or len(call.args) != 2 or fn.constant(call.func) is not getattr:
        return s
    name = fn.constant(call.args[1])
    return ir.Assign(ir.Expr.getattr(call.args[0], name, s.loc), s.target, s.loc) if name else s


def _take_apart(fn):
    """Extension types become namedtuples of their parts."""
    for _, s in fn.statements():
        if _is_opaque(fn, s):
            raise refuse(f"{spell(fn, s)} {INSTRUCTIONS}", s.loc, IN_PYTHON)
    for block in fn.blocks.values():
        block.body = [new for s in block.body for new in _constant_apart(fn, s)]
    fn.changed()
    fn.types = {name: parts_type(ty) for name, ty in fn.types.items()}


def _constant_apart(fn, s):
    """A global, or a closure's value, of an extension type comes in its parts."""
    if not (isinstance(s, ir.Assign) and isinstance(s.value, ir.Global | ir.FreeVar)):
        return [s]
    ty = fn.type_of(s.target)
    if not is_extension(ty):
        return [s]
    made = parts_of(s.value.value, ty)
    func = fn.fresh("$parts", function_type(made), s.loc)
    call = ir.Expr.call(func, [], (), s.loc)
    fn.calls[call] = signature(parts_type(ty))
    return [
        ir.Assign(ir.Global("parts", made, s.loc), func, s.loc),
        ir.Assign(call, s.target, s.loc),
    ]


INSTRUCTIONS = (
    "by LLVM instructions (lower_builtin, @intrinsic) that do more than move, add and multiply"
)
IN_PYTHON = "say in Python what it does, with @overload of numba.extending"


def _is_opaque(fn, s):
    """Whether a statement does with an extension type what is not known."""
    value = getattr(s, "value", None)
    if isinstance(value, ir.Global) and isinstance(s, ir.Assign):
        ty = fn.type_of(s.target)
        return holds_extension(ty) and not is_extension(ty)
    if not isinstance(value, ir.Expr):
        return False
    if value.op == "getattr":
        owner = fn.type_of(value.value)
        method = isinstance(fn.type_of(s.target), types.BoundFunction)  # see where it is called
        return is_extension(owner) and not method and value.attr not in parts_type(owner).fields
    if value.op in ("getitem", "static_getitem"):
        return is_extension(fn.type_of(value.value))
    if value.op == "call":
        called = fn.type_of(value.func)
        if isinstance(called, types.BoundFunction) and is_extension(called.this):
            return True
        if not isinstance(called, types.Function) or _makes_struct(called, fn.type_of(s.target)):
            return False
    touched = value.op in ("call", "binop", "inplace_binop", "unary")
    return touched and any(is_extension(fn.type_of(v)) for v in [s.target, *operands(value)])


def _makes_struct(called, made):
    return isinstance(made, types.StructRef) and isinstance(called.typing_key, type)


def _called(fn, s):
    """The statements that call what was chosen for `s`; None where it is nothing of others."""
    value = s.value if isinstance(s, ir.Assign) else s
    if is_expr(value, "call"):
        found = _chosen_call(fn, value)
    elif is_expr(value, "getattr"):
        found = _chosen_attribute(fn, value)
    else:
        found = _chosen_operator(fn, s, value)
    return found and _call(fn, s, *found)


def _call(fn, s, dispatcher, arguments, named=()):
    made, loc = [], s.loc
    given = [_variable(fn, argument, made, loc) for argument in arguments]
    func = fn.fresh("$chosen", types.Dispatcher(dispatcher), loc)
    made.append(ir.Assign(ir.Global(dispatcher.py_func.__name__, dispatcher, loc), func, loc))
    target = s.target if isinstance(s, ir.Assign) else fn.fresh("$none", types.none, loc)
    call = ir.Expr.call(func, given, tuple(named), loc)
    argtypes = [fn.type_of(v) for v in (*given, *(v for _, v in named))]
    fn.calls[call] = signature(fn.type_of(target), *argtypes)
    return [*made, ir.Assign(call, target, loc)]


def _variable(fn, argument, made, loc):
    """A variable as it is; an index that is a constant gets one."""
    if isinstance(argument, ir.Var):
        return argument
    target = fn.fresh("$index", types.literal(argument), loc)
    made.append(ir.Assign(ir.Const(argument, loc), target, loc))
    return target


# -- operators ---------------------------------------------------------------------------------


def _chosen_operator(fn, s, value):
    found = _operator(fn, s, value)
    if found is None:
        return None
    function, arguments = found
    asked = fn.calls.get(value)
    if asked is None:  # of a static index that no overload was asked for
        return None
    dispatcher = of_function(function, asked.args)
    return dispatcher and (dispatcher, arguments)


def _operator(fn, s, value):
    """The function that a statement calls in other words, and the arguments; None of others."""
    if is_expr(value, "binop"):
        return value.fn, [value.lhs, value.rhs]
    if is_expr(value, "inplace_binop"):  # as Numba's lowering does it
        changes = fn.type_of(value.lhs).mutable
        return value.fn if changes else value.immutable_fn, [value.lhs, value.rhs]
    if is_expr(value, "unary"):
        return unary_function(value), [value.value]
    if is_expr(value, "getitem"):
        return operator.getitem, [value.value, value.index]
    if is_expr(value, "static_getitem"):
        return operator.getitem, [value.value, _index(value)]
    if isinstance(s, ir.SetItem):
        return operator.setitem, [s.target, s.index, s.value]
    if isinstance(s, ir.StaticSetItem):
        return operator.setitem, [s.target, _index(s), s.value]
    if isinstance(s, ir.DelItem):
        return operator.delitem, [s.target, s.index]
    return None


def operators_of(s):
    """The functions that a statement of untyped code may call in other words."""
    value = s.value if isinstance(s, ir.Assign) else s
    if is_expr(value, "inplace_binop"):
        return [value.fn, value.immutable_fn]
    if is_expr(value, "binop", "unary"):
        return [unary_function(value)]
    if is_expr(value, "getitem", "static_getitem"):
        return [operator.getitem]
    if isinstance(s, ir.SetItem | ir.StaticSetItem):
        return [operator.setitem]
    return [operator.delitem] if isinstance(s, ir.DelItem) else []


def _index(access):
    return access.index if access.index_var is None else access.index_var


# -- functions, methods and attributes ---------------------------------------------------------


def _chosen_call(fn, call):
    if call.vararg is not None:
        return None
    ty, given = fn.type_of(call.func), [fn.type_of(v) for v in call.args]
    named = {name: fn.type_of(v) for name, v in call.kws}
    if isinstance(ty, types.BoundFunction):
        return _chosen_method(fn, call, ty, given, named)
    if not isinstance(ty, types.Function):
        return None
    dispatcher = of_function(ty.typing_key, given, named)
    return dispatcher and (dispatcher, call.args, call.kws)


def _chosen_method(fn, call, ty, given, named):
    owner = fn.origin(call.func)
    if not is_expr(owner, "getattr"):
        return None
    dispatcher = _of_method(getattr(ty.template, "_overload_func", None), ty.this, given, named)
    return dispatcher and (dispatcher, [owner.value, *call.args], call.kws)


def _chosen_attribute(fn, value):
    owner = fn.type_of(value.value)
    if owner is None or isinstance(owner, types.Module | types.Function):
        return None
    dispatcher = of_attribute(owner, value.attr)
    return dispatcher and (dispatcher, [value.value])


# -- what Numba chose --------------------------------------------------------------------------


def has_overloads(function):
    """Whether others have overloaded a function or an operator."""
    return bool(_overloads(function_type(function)))


def is_given(function):
    """Whether others have told Numba what a function or an operator does, in one way or another."""
    ty = function_type(function)
    return isinstance(ty, types.Function) and _templates(ty.templates).any


def of_function(function, args, named=None):
    """The dispatcher that is chosen for a call of a function, if it is of others.

    None where it is Numba's own, or nothing that is known as Python code.
    """
    ty, named = function_type(function), named or {}
    if not isinstance(ty, types.Function) or not _templates(ty.templates).any:
        return None
    if _has_rule(function, [*args, *named.values()]):
        return None
    return _chosen(ty, args, named)


def of_method(owner, name, args, named):
    """The same for a method of a value of type `owner`."""
    ty = cpu_target.typing_context.resolve_getattr(owner, name)
    if not isinstance(ty, types.BoundFunction):
        return None
    return _of_method(getattr(ty.template, "_overload_func", None), ty.this, args, named)


def _of_method(overload, owner, args, named):
    if overload is None or not _is_of_others(overload):
        return None
    return _chosen(function_type(overload), [owner, *args], named)


def of_attribute(owner, name):
    """The same for an attribute that code gives."""
    templates = list(cpu_target.typing_context._get_attribute_templates(owner))
    if not any(_overloads_attribute(t, name) for t in templates):
        return None
    found = next(t for t in templates if t.resolve(owner, name) is not None)
    if not _overloads_attribute(found, name):
        return None
    return _chosen(function_type(found._overload_func), [owner], {})


def _overloads_attribute(template, name):
    own = getattr(template, "_attr", None) == name and not template.is_method
    return own and _is_of_others(template._overload_func)


def names_given():
    """`(methods, attributes)` that others have given to types, by name."""
    found = set(), set()
    for templates in cpu_target.typing_context._attributes.values():
        for template in templates:
            overload = getattr(template, "_overload_func", None)
            if overload is not None and _is_of_others(overload):
                found[not template.is_method].add(template._attr)
    return found


def _of_its_own(dispatcher):
    """The dispatcher; another one where `functools.wraps` gave it the attributes of a jitted function.

    The code of an overload may be wrapped so for its name's sake. Numba compiles it all the same, but what
    the dispatcher has as `py_func`, `overloads` and so on is what that function has.
    """
    code = dispatcher._compiler.py_func
    return dispatcher if dispatcher.py_func is code else _without_attributes(code)


@lru_cache(maxsize=512)
def _without_attributes(code):
    plain = FunctionType(
        code.__code__, code.__globals__, code.__name__, code.__defaults__, code.__closure__
    )
    plain.__kwdefaults__, plain.__module__ = code.__kwdefaults__, code.__module__
    plain.__qualname__ = code.__qualname__
    return njit(plain)


def _has_rule(function, tys):
    """Whether a function is differentiated by a rule, for arguments of these types."""
    try:
        if any(function in table for table in _RULES):
            return True
        numbers = all(isinstance(ty, types.Number | types.Boolean) for ty in tys)
        return numbers and (function in SCALAR or function in CONSTANT)
    except TypeError:  # unhashable
        return False


def function_type(function):
    """Numba's type of a function, or None."""
    context = cpu_target.typing_context
    try:
        return context._lookup_global(function) or context.resolve_value_type(function)
    except (ValueError, TypeError):  # Numba has no type for it; it cannot be hashed
        return None


def _is_of_others(function):
    module = getattr(function, "__module__", None)
    return (module and module.partition(".")[0]) not in _OWN


def is_by_others(function, args, named=None):
    """Whether it is others who told Numba what a function does of arguments of these types."""
    context = cpu_target.typing_context
    return any(
        _types_call(template(context), args, named or {})
        for template in _templates(function_type(function).templates).of_others
    )


def _types_call(template, args, named):
    try:
        return template.apply(tuple(args), named) is not None
    except (NumbaError, TypeError):  # it takes no such values, or not so many
        return False


class _Templates(NamedTuple):
    overloads: list
    of_others: list

    @property
    def any(self):
        return bool(self.of_others)


def _overloads(ty):
    """The templates of a function's type that overloads of others made."""
    return _templates(ty.templates).overloads if isinstance(ty, types.Function) else []


@lru_cache(maxsize=512)
def _templates(templates):
    """Those of the templates that others made."""
    overloads = [t for t in templates if _is_of_others(getattr(t, "_overload_func", None))]
    return _Templates(overloads, overloads + [t for t in templates if _is_by_hand(t)])


def _is_by_hand(template):
    """Whether others made a template otherwise: `type_callable`, `intrinsic`, `infer_global`."""
    if hasattr(template, "_overload_func"):
        return False
    generic = getattr(template, "generic", None)
    if getattr(generic, "__qualname__", "").startswith("type_callable."):
        return _is_of_others(generic.__closure__[0].cell_contents)
    written = getattr(template, "_definition_func", None)
    return any(_is_of_others(one) for one in ([written] if written else _written(template)))


def _written(template):
    """The class statement that a template comes from: classes made by calls are of the module `abc`."""
    return [base for base in template.__mro__ if base.__module__ != "abc"][:1]


def _chosen(ty, args, named):
    """The dispatcher of the overload of others that is chosen for argument types, or None.

    What others wrote in instructions is followed, where it makes or takes an extension type.
    """
    context, args = cpu_target.typing_context, tuple(args)
    typed = ty.get_call_type(context, args, named)
    key = typed and ty.get_impl_key(typed)
    for template in _overloads(ty):
        made = template._compiled_overloads
        if key is None or not any(key is own for own in made.values()):
            continue
        asked = template(context)
        for literally in (asked.prefer_literal, not asked.prefer_literal):
            plain = (lambda t: t) if literally else types.unliteral
            try:
                named_ = {name: plain(t) for name, t in named.items()}
                dispatcher, _ = asked._get_impl(tuple(map(plain, args)), named_)
            except NumbaError:
                continue
            if dispatcher is not None:
                return _of_its_own(dispatcher)
    if typed is None or named or not any(map(holds_extension, (typed.return_type, *args))):
        return None
    return traced.dispatcher_of(ty, typed, args)

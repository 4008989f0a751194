"""Operators by instances of classes: by the tuples of their fields, and back.

For `f(instance, x)` the operator is applied to `g(fields, x) = f(make(fields), x)`, where `make`
allocates an instance and assigns its fields; no code of the class runs. A gradient is an instance of
the same class. So no engine has to know of instances that come from outside.

What `f` assigns to the numbers in the fields of its instance is assigned to the caller's as well.
"""

import copy

from numba import njit
from numba.core import types

from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..errors import ArgumentError
from ..forward.dual import primal_type
from ..forward.promote import effects
from ..source import define
from . import operator_dispatcher
from .argument_structure import leaves, level_of, parse
from .aux_results import no_aux
from .describe import describe, users_name
from .instance_changes import (
    Addressed,
    address_of,
    addresses_in,
    are_distinct,
    without_addresses,
    written_back,
)
from .instance_tuples import as_tuple, has_floats, holds_instances, maker, out_of_reach, restored
from .jacobian_operator import Jacobian
from .mode import Choice
from .operator_dispatcher import build, parameter_names, signature_source
from .results import plain_result
from .second_order import HVP
from .tangent import JVP
from .vjp import VJP

_OF_FIELDS = "__numbad_of_fields__"


def written_by_fields(operator, typingctx, argtypes):
    """The code of an operator that differentiates by instances; None for any other."""
    if not isinstance(operator, Jacobian | JVP | VJP | HVP) or _is_of_fields(operator.f):
        return None
    if operator.takes_tuples and not isinstance(argtypes[0], types.BaseTuple):
        return None
    given = [types.unliteral(ty) for ty in operator.types_of_f(argtypes)]
    places = [
        k
        for k in operator.argnums
        if k < len(given) and _is_differentiated(operator, k, given, argtypes)
    ]
    if not places:
        return None
    by_fields = _FunctionOfFields(operator, typingctx, given, places)
    if getattr(operator, "has_aux", False) and by_fields.returns_instances:
        found = leaves(parse(plain_result(typingctx, operator.f, given), ""))
        raise no_aux(operator, next(leaf.type for leaf in found if holds_instances(leaf.type)))
    inner = copy.copy(operator)
    inner.f = by_fields.function
    if isinstance(operator, Jacobian):
        inner.choice = Choice(operator.choice.mode)
    write = _written_plain if isinstance(operator, Jacobian) else _written_tupled
    return write(operator, build(inner), by_fields, argtypes)


def _is_of_fields(f):
    """Whether a function takes fields already, in place of the instances to differentiate by."""
    while hasattr(f, "operator"):
        f = f.operator.f
    return getattr(f.py_func, _OF_FIELDS, False)


operator_dispatcher.WRITERS.append(written_by_fields)


def _is_differentiated(operator, k, given, argtypes):
    ty = given[k]
    if not holds_instances(ty) or not has_floats(ty):
        return False
    if operator.takes_tangents and _tangent_is_none(operator, k, argtypes):
        return False
    explicit = getattr(operator, "explicit", True)
    hidden = out_of_reach(ty)
    if hidden is not None and explicit:
        name = parameter_names(operator.f.py_func)[k]
        raise ArgumentError(
            f"nd.{operator.name} differentiates by argument '{name}', which is {describe(ty)} with "
            f"{describe(hidden)} among its fields; it can have floats, arrays, tuples and instances of "
            "such classes: pass the fields that you need as arguments, and make the instance in the function"
        )
    return hidden is None


def _tangent_is_none(operator, k, argtypes):
    tangents = argtypes[1]
    place = operator.argnums.index(k)
    return (
        isinstance(tangents, types.BaseTuple)
        and place < len(tangents)
        and isinstance(tangents[place], types.NoneType)
    )


class _FunctionOfFields:
    """`f` as a function of tuples in place of the instances at some places."""

    def __init__(self, operator, typingctx, given, places):
        self.operator, self.given, self.places = operator, given, places
        f = operator.f
        # Without knowing what overloaded functions do, all that they get may be changed.
        done = effects(f, range(len(given)), given).cautious()
        self.changed = {k for k in places if k in done.changed}
        self.level = level_of(given)
        self.returns_instances = holds_instances(plain_result(typingctx, f, given))
        back = tuple((k, given[k], self.level) for k in sorted(self.changed))
        plain = tuple((k, primal_type(given[k])) for k in places)
        key = plain, back, self.returns_instances
        known = remembered(f, "by_fields")
        if key not in known:
            known[key] = self._define(plain)
        self.function = known[key]

    def _define(self, plain):
        f = self.operator.f
        parameters, namespace = signature_source(f.py_func)
        names = parameter_names(f.py_func)
        star = operator_dispatcher.starred(f.py_func)
        passed = [f"*{n}" if k == star else n for k, n in enumerate(names)]
        lines, after = [], []
        for k, ty in plain:
            namespace[f"_make{k}"] = maker(ty)
            fields = f"{names[k]}.fields" if k in self.changed else names[k]
            lines.append(f"_instance{k} = _make{k}({fields})")
            passed[k] = f"_instance{k}"
            if k in self.changed:
                namespace[f"_back{k}"] = written_back(self.given[k], self.level)
                after.append(f"_back{k}({names[k]}.address, {fields}, _instance{k})")
        namespace |= {"_function": f, "_as_tuple": as_tuple}
        result = "_as_tuple(_result)" if self.returns_instances else "_result"
        lines += [f"_result = _function({', '.join(passed)})", *after, f"return {result}"]
        body = "".join(f"    {line}\n" for line in lines)
        made = define(f"def of_fields({parameters}):\n{body}", namespace)
        setattr(made, _OF_FIELDS, True)
        made.__name__ = made.__qualname__ = users_name(f)
        options = inherited_options(f)
        return njit(made, **options)

    def checks(self, sources):
        """Lines that refuse an instance that is given twice, where it may be changed."""
        given = [s for s, ty in zip(sources, self.given, strict=False) if holds_instances(ty)]
        if not self.changed or not given:
            return []
        found = " + ".join(["()", *(f"addresses_in({source})" for source in given)])
        f = users_name(self.operator.f)
        told = (
            f"nd.{self.operator.name}: the same instance is given twice to {f}, which may change it. "
            "Way out: pass it once, or a copy of it"
        )
        return [f"if not are_distinct({found}):", f"    raise ArgumentError({told!r})"]

    def argument(self, k, source):
        """Source of what the function of fields gets for argument `k`."""
        if k not in self.places:
            return source
        fields = f"as_tuple({source})"
        return f"Addressed({fields}, address_of({source}))" if k in self.changed else fields

    def tangent(self, k, source):
        """Source of the tangent of argument `k`."""
        if k not in self.places:
            return source
        fields = f"as_tuple({source})"
        return f"Addressed({fields}, None)" if k in self.changed else fields

    def differentiated(self, primals):
        """The arguments that hold floats, those in fields too."""
        constant = set(range(len(primals))) - set(self.places)
        return [
            k
            for k, ty in enumerate(primals)
            if has_floats(ty) and not (k in constant and holds_instances(ty))
        ]

    def restored(self, k, gradient, source):
        """Source of the gradient by argument `k`, with the structure of what `source` gives."""
        if k not in self.places:
            return gradient
        fields = f"{gradient}.fields" if k in self.changed else gradient
        return f"restored({fields}, {source})"


_NAMESPACE = {
    "as_tuple": as_tuple,
    "restored": restored,
    "Addressed": Addressed,
    "address_of": address_of,
    "without_addresses": without_addresses,
    "addresses_in": addresses_in,
    "are_distinct": are_distinct,
    "ArgumentError": ArgumentError,
}


def _written_plain(operator, target, by_fields, argtypes):
    """Of an operator whose result is called with the arguments of `f`."""
    function = operator.f.py_func
    star = operator_dispatcher.starred(function)
    count = len(parameter_names(function))
    sources = [f"*arg{k}" if k == star else f"arg{k}" for k in range(count)]
    given = [by_fields.argument(k, source) for k, source in enumerate(sources)]
    given = [s for k, s in enumerate(given) if k >= len(argtypes) or not _is_omitted(argtypes[k])]
    lines = [*by_fields.checks(sources), f"r = target({', '.join(given[:count])})"]
    if not operator.scalar:
        lines.append("return without_addresses(r)")
    else:
        gradient = "r[1]" if operator.with_value else "r[0]" if operator.has_aux else "r"
        parts = [
            by_fields.restored(k, gradient if operator.single else f"{gradient}[{j}]", f"arg{k}")
            for j, k in enumerate(operator.argnums)
        ]
        found = parts[0] if operator.single else "(" + "".join(p + ", " for p in parts) + ")"
        if operator.with_value:
            lines.append(f"return r[0], {found}")
        else:
            lines.append(f"return {found}, r[1]" if operator.has_aux else f"return {found}")
    return _function(operator, operator_dispatcher.plain_parameters(function), lines, target)


def _is_omitted(ty):
    return isinstance(ty, types.Omitted)


def _written_tupled(operator, target, by_fields, argtypes):
    """Of an operator whose result is called with all arguments as one tuple."""
    primals, other = argtypes
    given = [by_fields.argument(k, f"primals[{k}]") for k in range(len(primals))]
    if operator.takes_tangents:
        second = [
            by_fields.tangent(operator.argnums[j], f"other[{j}]")
            if j < len(operator.argnums)
            else f"other[{j}]"
            for j in range(len(other))
        ]
        second = "(" + "".join(s + ", " for s in second) + ")"
    else:
        second = "as_tuple(other)"
    checks = by_fields.checks([f"primals[{k}]" for k in range(len(primals))])
    lines = [*checks, f"r = target(({''.join(s + ', ' for s in given)}), {second})"]
    lines.append(f"return {_results(operator, by_fields, primals)}")
    return _function(operator, "primals, other", lines, target)


def _results(operator, by_fields, primals):
    if isinstance(operator, JVP):
        return "r"
    if isinstance(operator, VJP):
        return f"r[0], {_tuple_restored(by_fields, operator.argnums, 'r[1]')}"
    numbers = operator.argnums if operator.explicit else by_fields.differentiated(primals)
    if operator.name == "hvp":
        return _tuple_restored(by_fields, numbers, "r")
    gradient, product = (_tuple_restored(by_fields, numbers, f"r[{i}]") for i in (1, 2))
    return f"r[0], {gradient}, {product}"


def _tuple_restored(by_fields, numbers, source):
    parts = [
        by_fields.restored(k, f"{source}[{j}]", f"primals[{k}]") for j, k in enumerate(numbers)
    ]
    return "(" + "".join(part + ", " for part in parts) + ")"


def _function(operator, parameters, lines, target):
    body = "".join(f"    {line}\n" for line in lines)
    source = f"def {operator.name}_by_instance({parameters}):\n{body}"
    return define(source, {"target": target, **_NAMESPACE})

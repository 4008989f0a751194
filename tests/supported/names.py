"""The names of the functions, methods and attributes that the installed Numba supports.

Read off Numba's own registries, so that a newer Numba with more of them is noticed.
"""

import random
import weakref

import numba
import numpy as np

OWNERS = {
    "Array": "Array",
    "ArrayCTypes": "ArrayCTypes",
    "ArrayFlags": "ArrayFlags",
    "BaseNamedTuple": "NamedTuple",
    "BaseTuple": "Tuple",
    "Boolean": "Number",
    "Bytes": "bytes",
    "CharSeq": "charseq",
    "Complex": "Number",
    "DictType": "dict",
    "EnumClass": "Enum",
    "EnumMember": "Enum",
    "Float": "Float",
    "IndexValueType": "IndexValue",
    "Integer": "Integer",
    "IntEnumMember": "Enum",
    "List": "list",
    "ListType": "typed.List",
    "LiteralList": "list",
    "LiteralStrKeyDict": "dict",
    "MemoryView": "Array",
    "NPDatetime": "datetime",
    "NPTimedelta": "datetime",
    "Number": "Number",
    "NumPyRandomGeneratorType": "Generator",
    "PolynomialType": "Polynomial",
    "RangeType": "range",
    "Record": "Record",
    "Set": "set",
    "SetType": "set",
    "SliceType": "slice",
    "UnicodeCharSeq": "charseq",
    "UnicodeType": "str",
}
"""Numba's types whose attributes a program can name -> what the table calls them."""

INTERNAL = {
    "ClassInstanceType",
    "DeferredType",
    "DictItemsIterableType",
    "DictKeysIterableType",
    "DictValuesIterableType",
    "DType",
    "Function",
    "Module",
    "NamedTupleClass",
    "NestedArray",
    "NumberClass",
    "Optional",
    "SetIterableType",
    "SetIteratorType",
    "StructRef",
    "TypeRef",
}
"""Numba's types that are no built-in feature of their own, or are iterators behind one."""


def supported():
    """The names of all features that Numba's registries hold."""
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()
    cpu_target.target_context.refresh()
    keys = [k() if isinstance(k, weakref.ref) else k for k in context._functions]
    keys += [k() if isinstance(k, weakref.ref) else k for k in context._globals]
    found = {name for key in keys if (name := _function(key))}
    for ty, templates in context._attributes.items():
        of_numba = not getattr(ty, "__module__", "").startswith("tests.")
        owner = OWNERS.get(getattr(ty, "__name__", "")) if of_numba else None
        found |= {f"{owner}.{name}" for t in templates for name in _attributes(t) if owner}
    return found


def unknown_types():
    """Numba's types with attributes that neither `OWNERS` nor `INTERNAL` knows."""
    from numba.core.registry import cpu_target

    context = cpu_target.typing_context
    context.refresh()
    known = [ty for ty in context._attributes if isinstance(ty, type)]
    named = [ty.__name__ for ty in known if not ty.__module__.startswith(("numbad.", "tests."))]
    return sorted(set(named) - set(OWNERS) - INTERNAL)


def _function(fn):
    """The qualified public name of a function, None for what is internal to Numba."""
    owner = getattr(fn, "__self__", None)
    name = getattr(fn, "__name__", None)
    if not isinstance(name, str) or name.startswith("_"):
        return None
    if isinstance(owner, random.Random):
        return f"random.{name}"
    if isinstance(owner, np.random.RandomState):
        return f"numpy.random.{name}"
    of_numpy = isinstance(fn, np.ufunc) and getattr(np, name, None) is fn
    module = getattr(fn, "__module__", None) or ("numpy" if of_numpy else "")
    module = module.lstrip("_")
    if module.partition(".")[0] == "numba":
        return f"numba.{name}" if getattr(numba, name, None) is fn else None
    known = ("numpy", "builtins", "math", "cmath", "operator", "functools", "heapq")
    return f"{module}.{name}" if module.partition(".")[0] in known else None


def _attributes(template):
    """The public names of attributes that a template resolves."""
    if found := getattr(template, "_attr", None):
        names = [found]
    else:
        names = [n.removeprefix("resolve_") for n in dir(template) if n.startswith("resolve_")]
    return [name for name in names if not name.startswith("_")]

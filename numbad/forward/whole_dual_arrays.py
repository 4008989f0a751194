"""NumPy's functions of arrays of dual numbers, by the code that the table of `rules/arrays/` has for them."""

from numba.core import types

from ..rules import arrays, linalg  # noqa: F401  (which adds to the table)
from ..source import define
from . import dual as d
from .dual_dispatcher import dualized
from .optional_arrays import overload_stand_in
from .stand_ins import METHODS, REPLACED, stand_for, stand_for_method


def _plain(ty):
    """The type of the numbers without partials."""
    if isinstance(ty, d.Dual):
        return d.base_scalar(ty)
    if isinstance(ty, types.Array) and isinstance(ty.dtype, d.Dual):
        return ty.copy(dtype=d.base_scalar(ty.dtype))
    if isinstance(ty, types.List) and isinstance(ty.dtype, d.Dual):
        return types.List(d.base_scalar(ty.dtype))
    if type(ty) in (types.Tuple, types.UniTuple):
        return types.Tuple([_plain(member) for member in ty.types])
    return ty


def _is_given(ty):
    return isinstance(ty, types.Type) and not isinstance(ty, types.Omitted)


def _register(known, original=None, method=None):
    """Let a stand-in be called where code for duals names a function, or a method of arrays."""
    parameters = str(known.signature)[1:-1]
    names = list(known.signature.parameters)
    stand_in = define(f"def stand_in({parameters}):\n    raise NotImplementedError\n", {})

    def resolve(tys):
        given = {name: ty for name, ty in zip(names, tys, strict=True) if _is_given(ty)}
        code = _of_duals(known, given) if any(map(_has_duals, tys)) else None
        if code is None:
            code = _of_floats(original, method, given, names)
        call, function = code
        return define(f"def call({parameters}):\n    return {call}\n", {"function": function})

    lines = f"def typed({parameters}):\n    return resolve(({', '.join(names)},))\n"
    overload_stand_in(stand_in, prefer_literal=True)(define(lines, {"resolve": resolve}))
    if method is None:
        stand_for(original, stand_in)
    else:
        stand_for_method(method, stand_in)


def _has_duals(ty):
    return _is_given(ty) and any(True for _ in d.duals_in(ty))


def _of_duals(known, given):
    """The call of the stand-in for these types, and the stand-in; None where there is none."""
    made = known.of({name: _plain(ty) for name, ty in given.items()})
    return made and (f"function({', '.join(given)})", dualized(made))


def _of_floats(original, method, given, names):
    """The call of NumPy's own function or method, and the function."""
    first = next((k for k, name in enumerate(given) if name != names[k]), len(given))
    passed = [name if k < first else f"{name}={name}" for k, name in enumerate(given)]
    if method is not None:
        return f"{names[0]}.{method}({', '.join(passed[1:])})", None
    return f"function({', '.join(passed)})", original


for _function, _known in arrays.FUNCTIONS.items():
    if _function not in REPLACED:
        _register(_known, original=_function)
for _name, _known in arrays.METHODS.items():
    if _name not in METHODS:
        _register(_known, method=_name)

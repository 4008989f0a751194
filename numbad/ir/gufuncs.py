"""What `numba.guvectorize` made, as loops around its function.

What is accepted and how often the function is called is what Numba's `numpy_gufunc_kernel` does: an operand
has all the axes of the loops or none of them, an output without axes of its own is an array of one element.
"""

from itertools import combinations
from weakref import WeakKeyDictionary

from numba import njit
from numba.core import types
from numba.core.registry import cpu_target
from numba.np.ufunc.sigparse import parse_signature

from ..compilation.meaning import is_as_compiled
from ..rules.arrays.nests import jit, nest, number_class

_CODE = WeakKeyDictionary()  # gufunc -> types of the arguments -> the jitted function


def code_of(gufunc, given):
    """The jitted function for arguments of these types; None where Numba's own call is no such loops."""
    if not is_as_compiled(gufunc._dispatcher):  # it runs what its names meant before
        return None
    made = _CODE.setdefault(gufunc, {})
    if given not in made:
        made[given] = _make(gufunc, given)
    return made[given]


def _make(gufunc, given):
    inputs, outputs = parse_signature(gufunc.gufunc_builder.signature)
    if len(given) != len(inputs) + len(outputs):
        return None
    loop = _loop_of(gufunc, given)
    axes = [_ndim(ty) - len(core) for ty, core in zip(given, (*inputs, *outputs), strict=True)]
    looped = axes[len(inputs)]
    if not all(map(_fits, given, loop)) or not set(axes) <= {0, looped}:
        return None
    if any(count != looped for count in axes[len(inputs) :]):
        return None
    names = [f"a{k}" for k in range(len(given))]
    operands = [
        _input(name, ty, count) for name, ty, count in zip(names, given, axes, strict=False)
    ][: len(inputs)]
    operands += [
        _output(name, looped, len(core))
        for name, core in zip(names[len(inputs) :], outputs, strict=True)
    ]
    namespace = {"kernel": _kernel(gufunc)}
    for k, (ty, wanted) in enumerate(zip(given, loop, strict=True)):
        if isinstance(ty, types.Number) and types.unliteral(ty) != wanted:
            namespace[f"class{k}"] = number_class(wanted)
            operands[k] = f"class{k}({operands[k]})"
    counts = [f"{names[len(inputs)]}.shape[{d}]" for d in range(looped)]
    lines = [f"def {gufunc.__name__}({', '.join(names)}):"]
    lines += _checks(names, given, [*inputs, *outputs], axes, len(inputs), counts)
    lines += nest(counts, [f"kernel({', '.join(operands)})"])
    return jit(lines, **namespace)


def _loop_of(gufunc, given):
    """The types that its function gets for arguments of these types."""
    context = cpu_target.typing_context
    context.resolve_value_type(gufunc).get_call_type(
        context, given, {}
    )  # compiles it where it must
    elements = tuple(getattr(ty, "dtype", types.unliteral(ty)) for ty in given)
    loop, _ = gufunc.find_ewise_function(elements)
    return getattr(loop, "args", loop)


def _ndim(ty):
    return ty.ndim if isinstance(ty, types.Array) else 0


def _fits(ty, wanted):
    """Whether a call passes what the function wants: numbers are converted, elements of arrays are not."""
    if isinstance(ty, types.Array):
        return ty.dtype == getattr(wanted, "dtype", wanted)
    return isinstance(ty, types.Number) and isinstance(wanted, types.Number)


def _kernel(gufunc):
    """Its function, compiled as Numba compiles it for a gufunc."""
    builder = gufunc.gufunc_builder
    fast = builder.targetoptions.get("fastmath", False)
    return njit(error_model="numpy", fastmath=fast)(builder.py_func)


def _input(name, ty, looped):
    if not isinstance(ty, types.Array) or (ty.ndim and not looped):
        return name
    return f"{name}[{', '.join(f'i{d}' for d in range(looped)) or '()'}]"


def _output(name, looped, core):
    if not looped:
        return name if core else f"{name}.reshape(1)"
    last = looped - 1
    indices = [f"i{d}" for d in range(last)]
    return f"{name}[{', '.join([*indices, f'i{last}' if core else f'i{last}:i{last} + 1'])}]"


def _checks(names, given, cores, axes, inputs, counts):
    """The errors of Numba's for shapes that do not go together."""
    for name, looped in list(zip(names, axes, strict=True))[:inputs]:
        for d in range(looped):
            yield f"    if {name}.shape[{d}] != {counts[d]}:"
            yield "        raise ValueError('Loop and array shapes are incompatible')"
    for a, b in combinations(range(len(names)), 2):
        both = isinstance(given[a], types.Array) and isinstance(given[b], types.Array)
        for d in range(len(cores[a]) if both and cores[a] == cores[b] else 0):
            yield f"    if {names[a]}.shape[{axes[a] + d}] != {names[b]}.shape[{axes[b] + d}]:"
            yield "        raise ValueError('Operand has a mismatch in one of its core dimensions.')"

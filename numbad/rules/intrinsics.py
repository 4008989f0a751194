"""Rules of intrinsics that compute a number from numbers by a few instructions: `llvm.fma`, say.

Numba calls an intrinsic's own code for the LLVM instructions. Where these are sums, products and quotients,
one after the other, their partial derivatives are written down from them.
"""

import math
from weakref import WeakKeyDictionary

from llvmlite import ir as llvm
from numba.core import types
from numba.core.registry import cpu_target

from ..source import define
from .registry import JVP, SCALAR, VJP, ship
from .tracing import arity

_FUSED = ("llvm.fma.", "llvm.fmuladd.")
_IMPLIED = WeakKeyDictionary()  # intrinsic -> the partials that its instructions imply, or None


def bring_rule(intrinsic):
    """Give an intrinsic the rule that its instructions imply, unless it has one or they imply none."""
    if intrinsic not in _IMPLIED:
        _IMPLIED[intrinsic] = _implied(intrinsic)
    partials = _IMPLIED[intrinsic]
    if partials is not None and not any(intrinsic in table for table in (SCALAR, JVP, VJP)):
        ship({intrinsic: partials})


def _implied(intrinsic):
    if intrinsic._defn.__module__.partition(".")[0] in ("numba", "numbad"):
        return None
    count = arity(intrinsic)[0]
    try:
        block, parameters, result = _instructions(intrinsic, count)
        return define(_partials(block, parameters, result), {})
    except Exception:  # the user's code, which may want other types, or `_UnknownError`
        return None


class _UnknownError(Exception):
    pass


def _instructions(intrinsic, count):
    """What an intrinsic's code writes for doubles: `(block, parameters, result)`."""
    given = (types.float64,) * count
    context = cpu_target.target_context
    context.refresh()
    signature, write = intrinsic._defn(cpu_target.typing_context, *given)
    if not count or signature != types.float64(*given) or _takes_others(intrinsic, signature):
        raise _UnknownError
    module = context.create_module("intrinsic")
    double = llvm.DoubleType()
    function = llvm.Function(module, llvm.FunctionType(double, [double] * count), "intrinsic")
    block = function.append_basic_block()
    result = write(context, llvm.IRBuilder(block), signature, list(function.args))
    if len(function.blocks) != 1:
        raise _UnknownError
    return block, function.args, result


def _takes_others(intrinsic, signature):
    """Whether an intrinsic's code writes other instructions for other types, such as arrays."""
    try:
        others = intrinsic._defn(cpu_target.typing_context, *[types.none for _ in signature.args])
    except Exception:
        return False
    return others is not None and others[0] != signature


def _partials(block, parameters, result):
    """Source of a rule: each instruction's value, then its derivative by each parameter."""
    names = {p: f"x{k}" for k, p in enumerate(parameters)}
    slopes = {p: {k: "1.0"} for k, p in enumerate(parameters)}
    lines = [f"def partials(ans, {', '.join(names.values())}):"]

    def name_of(value):
        if value not in names and isinstance(value, llvm.Constant):
            number = float(value.constant)
            if not math.isfinite(number):
                raise _UnknownError
            names[value], slopes[value] = repr(number), {}
        return names[value]

    for number, instruction in enumerate(block.instructions):
        operands = _operands(instruction)
        value, weights = _derivative(instruction, *map(name_of, operands))
        names[instruction] = f"v{number}"
        lines.append(f"    v{number} = {value}")
        slopes[instruction] = own = {}
        for k in range(len(parameters)):
            terms = [
                f"({weight}) * {slopes[operand][k]}"
                for operand, weight in zip(operands, weights, strict=True)
                if k in slopes[operand]
            ]
            if terms:
                lines.append(f"    v{number}_{k} = {' + '.join(terms)}")
                own[k] = f"v{number}_{k}"
    name_of(result)
    found = [slopes[result].get(k, "0.0") for k in range(len(parameters))]
    return "\n".join([*lines, f"    return {', '.join(found)},"]) + "\n"


def _operands(instruction):
    return instruction.args if isinstance(instruction, llvm.CallInstr) else instruction.operands


def _derivative(instruction, *names):
    """An instruction's value as source, and its derivative by each operand."""
    if isinstance(instruction, llvm.CallInstr):
        if not instruction.callee.name.startswith(_FUSED):
            raise _UnknownError
        a, b, c = names
        return f"{a} * {b} + {c}", (b, a, "1.0")
    known = {
        "fadd": ("{} + {}", ("1.0", "1.0")),
        "fsub": ("{} - {}", ("1.0", "-1.0")),
        "fmul": ("{} * {}", ("{1}", "{0}")),
        "fdiv": ("{} / {}", ("1.0 / {1}", "-{0} / ({1} * {1})")),
        "fneg": ("-{}", ("-1.0",)),
    }
    value, weights = known[instruction.opname]
    return value.format(*names), [weight.format(*names) for weight in weights]

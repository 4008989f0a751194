"""LLVM modules with the elementary functions: of one number, and of as many as a vector register holds.

The function of one number tells LLVM of those of vectors, by the attribute that compilers of C write for
`#pragma omp declare simd` ("vector-function-abi-variant"): a loop over calls becomes one over vectors.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from llvmlite import ir
from llvmlite.binding import get_process_triple
from numba.core.registry import cpu_target

from numbad.elementary.circular import LARGEST, cosine, sine
from numbad.elementary.emitted import DOUBLE, INT32, Emitted
from numbad.elementary.error_function import error_function
from numbad.elementary.exponential import exponential, exponential_less_one, logistic, tangent
from numbad.elementary.logarithm import (
    INFINITY,
    LEAST_NORMAL,
    logarithm,
    logarithm_of_logistic,
    logarithm_of_one_more,
)
from numbad.elementary.power import power

PREFIX = "numbad.elementary."
_SCIPY = f"{PREFIX}scipy."
LANES = f"{PREFIX}lanes."
_ATTRIBUTES = ("noinline", "nounwind", "readnone", "willreturn")


@dataclass(frozen=True)
class Elementary:
    """A function of libm's, and the formula for it, which may give the places where it holds as well."""

    name: str
    formula: Callable
    arity: int = 1
    intrinsic: bool = False  # whether LLVM knows it
    libm: bool = True  # whether the C library has it
    scipy: bool = False  # whether SciPy has it

    @property
    def symbols(self):
        """What Numba calls it by in compiled code, the last first."""
        every = (
            (self.scipy, of_scipy(self.name)),
            (self.libm, self.name),
            (self.intrinsic, f"llvm.{self.name}.f64"),
        )
        return tuple(symbol for has, symbol in every if has)

    def emit(self, builder, values):
        """The value, and where it is right; None where it is everywhere."""
        found = self.formula(*(Emitted(builder, value) for value in values))
        return found if isinstance(found, tuple) else (found, None)


def _log(x):
    return logarithm(x), (x >= LEAST_NORMAL) & (x < INFINITY)


def _log1p(x):
    return logarithm_of_one_more(x), (x > -1.0) & (x < INFINITY)


def _sin(x):
    return sine(x), abs(x) <= LARGEST


def _cos(x):
    return cosine(x), abs(x) <= LARGEST


FUNCTIONS = (
    Elementary("exp", exponential, intrinsic=True),
    Elementary("expm1", exponential_less_one, scipy=True),
    Elementary("log", _log, intrinsic=True),
    Elementary("log1p", _log1p, scipy=True),
    Elementary("sin", _sin, intrinsic=True),
    Elementary("cos", _cos, intrinsic=True),
    Elementary("tanh", tangent),
    Elementary("erf", error_function, scipy=True),
    Elementary("expit", logistic, libm=False, scipy=True),
    Elementary("log_expit", logarithm_of_logistic, libm=False, scipy=True),
    Elementary("pow", power, 2, intrinsic=True),
)
BY_NAME = {function.name: function for function in FUNCTIONS}


@cache
def widths():
    """How many numbers the vectors of this machine hold; none where it has no fused multiply-add."""
    features = cpu_target.target_context.codegen()._tm_features.split(",")
    if get_process_triple().startswith(("aarch64", "arm64")):
        return (2,)
    return (4,) if "+fma" in features else ()  # LLVM does not choose wider ones by itself


def variant_name(function, width):
    return f"{PREFIX}{function.name}.{width}"


def attribute(function, called):
    """What tells LLVM that calls of `called` may be made in vectors."""
    parameters = "v" * function.arity
    names = [
        f"_ZGV_LLVM_N{width}{parameters}_{called}({variant_name(function, width)})"
        for width in widths()
    ]
    return f'"vector-function-abi-variant"="{",".join(names)}"'


def _define(module, function, name, ty):
    """A function of numbers of type `ty`; where the formula does not hold, libm's stands in."""
    defined = ir.Function(module, ir.FunctionType(ty, [ty] * function.arity), name)
    set.update(defined.attributes, _ATTRIBUTES)  # llvmlite does not know them all
    builder = ir.IRBuilder(defined.append_basic_block("entry"))
    value, plain = function.emit(builder, defined.args)
    if plain is None:
        builder.ret(value.value)
        return
    plain = plain.value
    every = plain if ty == DOUBLE else _all(builder, plain)
    with builder.if_then(every, likely=True):
        builder.ret(value.value)
    if ty == DOUBLE:
        builder.ret(_call_libm(builder, function, defined.args))
    else:
        _mend(builder, function, defined, value.value, plain)


def _all(builder, mask):
    bits = builder.bitcast(mask, ir.IntType(mask.type.count))
    return builder.icmp_unsigned("==", bits, bits.type(-1))


def _call_libm(builder, function, arguments):
    module = builder.module
    libm = module.globals.get(function.name)
    if libm is None:
        fnty = ir.FunctionType(DOUBLE, [DOUBLE] * function.arity)
        libm = ir.Function(module, fnty, function.name)
        set.update(libm.attributes, _ATTRIBUTES[1:])
    return builder.call(libm, arguments)


def _mend(builder, function, defined, value, plain):
    """One number after the other, libm's result where the formula does not hold."""
    entry, width = builder.block, value.type.count
    loop, call, after, done = (
        defined.append_basic_block(name) for name in ("loop", "call", "after", "done")
    )
    builder.branch(loop)
    builder.position_at_end(loop)
    number, so_far = builder.phi(INT32), builder.phi(value.type)
    builder.cbranch(builder.extract_element(plain, number), after, call)
    builder.position_at_end(call)
    arguments = [builder.extract_element(argument, number) for argument in defined.args]
    mended = builder.insert_element(so_far, _call_libm(builder, function, arguments), number)
    builder.branch(after)
    builder.position_at_end(after)
    result = builder.phi(value.type)
    result.add_incoming(so_far, loop)
    result.add_incoming(mended, call)
    following = builder.add(number, INT32(1))
    number.add_incoming(INT32(0), entry)
    number.add_incoming(following, after)
    so_far.add_incoming(value, entry)
    so_far.add_incoming(result, after)
    builder.cbranch(builder.icmp_unsigned("<", following, INT32(width)), loop, done)
    builder.position_at_end(done)
    builder.ret(result)


def _told(module, function, name, called):
    """A function that LLVM puts into its callers: a call of `called`, with what says that it has vectors."""
    fnty = ir.FunctionType(DOUBLE, [DOUBLE] * function.arity)
    target = module.globals.get(called) or ir.Function(module, fnty, called)
    told = ir.Function(module, fnty, name)
    set.update(told.attributes, ("alwaysinline", *_ATTRIBUTES[1:]))
    builder = ir.IRBuilder(told.append_basic_block("entry"))
    call = builder.call(target, told.args)
    set.update(call.attributes, (*_ATTRIBUTES[1:], attribute(function, called)))
    builder.ret(call)


def _module(name):
    """The function and a module with its vector forms."""
    function, module = BY_NAME[name], ir.Module(f"{PREFIX}{name}")
    module.triple = get_process_triple()
    for width in widths():
        ty = ir.VectorType(DOUBLE, width)
        _define(module, function, variant_name(function, width), ty)
    return function, module


@cache
def in_place_of_libm(name):
    """An LLVM module: a function that has the same bits in vectors and alone, for values."""
    function, module = _module(name)
    _define(module, function, PREFIX + name, DOUBLE)
    for symbol in function.symbols:
        _told(module, function, in_place(symbol), PREFIX + name)
    return str(module) + _kept(function, PREFIX + name)


@cache
def beside_libm(name):
    """An LLVM module: a function that is libm's alone and ours in vectors, for what no value depends on.

    Being libm's, it is one with the same call for a value.
    """
    function, module = _module(name)
    _told(module, function, beside(name), function.symbols[-1])
    return str(module) + _kept(function)


@cache
def in_lanes(called):
    """An LLVM module: the function by the name `lanes_of(name, n)` or `beside_lanes(name, n)`."""
    name, n = called.split(".")[-2:]
    module = ir.Module(called)
    module.triple = get_process_triple()
    _define(module, BY_NAME[name], called, ir.VectorType(DOUBLE, int(n)))
    return str(module)


def lanes_of(name, n):
    """What code calls a function by of `n` numbers, for values: the C library's, or ours in its place."""
    return f"{LANES}{name}.{n}"


def beside_lanes(name, n):
    """The same for what no value depends on: ours."""
    return f"{PREFIX}beside_lanes.{name}.{n}"


def in_place(symbol):
    """What stands for a function that code calls by `symbol`: itself, where it is one of `of_scipy`."""
    return symbol if symbol.startswith(_SCIPY) else f"{PREFIX}{symbol}.in_place"


def of_scipy(name):
    """What code calls a function of SciPy's by, that it has a copy of until ours takes its place."""
    return f"{_SCIPY}{name}"


def beside(name):
    return f"{PREFIX}{name}.beside"


def _kept(function, *others):
    """What keeps the vector forms, which nothing calls until there are vectors.

    `others` keep all their parameters, which the attribute counts: LLVM drops those of a function that is
    called with one constant, as the exponent of powers, unless it is used elsewhere.
    """
    names = *(variant_name(function, width) for width in widths()), *others
    pointers = ", ".join(f'ptr @"{name}"' for name in names)
    kind = f"[{len(names)} x ptr]"
    return (
        f'\n@llvm.compiler.used = appending global {kind} [{pointers}], section "llvm.metadata"\n'
    )

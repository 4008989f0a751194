"""Probes of built-in functions and of the standard library."""

import cmath
import ctypes
import ctypes.util
import enum
import heapq
import math
import operator
from functools import reduce

import numba
import numpy as np
from numba import njit

from tests.rules.scalar_cases import CASES

from .probe import Section, total2

built_in = Section("Built-in functions")
math_section = Section("Standard library: `math`", {"math": math})
cmath_section = Section("Standard library: `cmath`", {"cmath": cmath})
operator_section = Section("Standard library: `operator`", {"operator": operator})
others = Section("Standard library: other modules")

# -- built-in functions ----------------------------------------------------------------------


def _built_in(name, expression, constant=False):
    add = built_in.constant if constant else built_in.call
    add(f"{name}", expression, feature=f"`{name}`", names=(f"builtins.{name}",), grouped=True)


_built_in("abs", "abs(-x * x)")
_built_in("bool", "bool(x) + 1", constant=True)
_built_in("chr", "len(chr(n + 70))", constant=True)
_built_in("complex", "mix(complex(x, x * y))")
_built_in("divmod", "divmod(x * y, 0.5)[1] * divmod(7 * x, y)[0]")
_built_in("float", "float(x) * x + float(n)")
_built_in("hash", "hash(n) + 1", constant=True)
_built_in("int", "int(x * 9.0)", constant=True)
_built_in("isinstance", "isinstance(n, int) + 1", constant=True)
_built_in("len", "len((x, n))", constant=True)
_built_in("max", "max(x, y) + max(x * x, 0.1) + max(x, 0.0, x * y)")
_built_in("min", "min(x, y) + min(x * x, 5.0) + min(x, 4.0, x * y)")
_built_in("ord", 'ord("a")', constant=True)
_built_in("pow", "pow(x, y) + pow(x, 3)")
_built_in("repr", "len(repr(n))", constant=True)
_built_in("round", "round(x * 9.0) + round(x * y, 1)", constant=True)
_built_in("str", "len(str(n))", constant=True)
_built_in("sum", "sum((x, x * y, y))")


@built_in.feature("`bytes`, `bytearray`, `memoryview`", names=("builtins.bytes",), constant=True)
def byte_buffers(x, data):
    return x * (len(data) + data[0])


@built_in.feature("`dict()`", names=("builtins.dict",))
def dict_of(x):
    table = dict([(1, x), (2, x * x)])  # noqa: C406
    return table[2] * table[1]


@built_in.feature("`enumerate`", names=("builtins.enumerate",))
def enumerated(a):
    r = 0.0
    for k, v in enumerate(a):
        r += k * v * v
    return r


@built_in.feature("`filter`", names=("builtins.filter",))
def filtered(a):
    r = 1.0
    for v in filter(lambda w: w > 0.5, a):
        r *= v
    return r


@built_in.feature("`getattr`, `hasattr`", names=("builtins.getattr", "builtins.hasattr"))
def attribute(pair):
    return getattr(pair, "first") * pair.second * hasattr(pair, "first")  # noqa: B009


@built_in.feature("`iter`, `next`", names=("builtins.iter", "builtins.next"))
def iterator(a):
    items = iter(a)
    return next(items) * next(items)


@built_in.feature("`list()`", names=("builtins.list",))
def list_of(a):
    values = list(a)
    return values[0] * values[1]


@built_in.feature("`map`", names=("builtins.map",))
def mapped(a):
    r = 0.0
    for v in map(lambda w: w * w, a):  # noqa: C417
        r += v
    return r


@built_in.feature("`min`, `max` of an array or a tuple")
def extremum_of_array(a):
    return min(a) * max((a[0], a[3]))


@built_in.feature("`print`", names=("builtins.print",))
def printed(x, n):
    print("x", n)
    return x * x


@built_in.feature("`print` of a differentiated float")
def printed_float(x):
    print(x)
    return x * x


@built_in.feature("`range`", names=("builtins.range",))
def ranged(x, n):
    r = x
    for k in range(1, n + 2, 2):
        r *= k * x
    return r


@built_in.feature("`range` attributes", names=[f"range.{a}" for a in ("start", "stop", "step")])
def range_attributes(x, n):
    return x * x * range(n).stop


@built_in.feature("`set()`", names=("builtins.set",), constant=True)
def set_of(x, n):
    return x * len(set((1, n, 3)))  # noqa: C405


@built_in.feature("`slice`", names=("builtins.slice",))
def sliced(a):
    return a[slice(1, 3)][1] * a[0] * a[2]


@built_in.feature("`slice` attributes", names=[f"slice.{a}" for a in ("start", "stop", "step")])
def slice_attributes(x, n):
    return x * x * slice(1, n).stop


@built_in.feature("`slice.indices()`", names=("slice.indices",), constant=True)
def slice_indices(x, n):
    return x * slice(1, n).indices(5)[1]


@built_in.feature("`sorted`", names=("builtins.sorted",))
def sorted_array(a):
    values = sorted(a)
    return values[0] * values[1] * values[1]


@built_in.feature("`tuple()`", names=("builtins.tuple",))
def tuple_of(duo):
    return tuple(duo)[0] * duo[1]  # noqa: RUF015


@built_in.feature("`type`", names=("builtins.type",))
def type_of(x):
    return type(x)(3) * x


@built_in.feature("`zip`", names=("builtins.zip",))
def zipped(a, b):
    r = 0.0
    for v, w in zip(a, b):  # noqa: B905
        r += v * v * w
    return r


# -- math, cmath, operator -------------------------------------------------------------------


def _domains():
    """A point inside the domain of each function that has a rule, from the rules' own cases."""
    found = {}
    for case in CASES:
        if not case.integers:
            found.setdefault(case.fn, case.samples(1)[0])
    return found


_WITHIN = {math.acosh: (1.7,), math.gamma: (1.7,), math.lgamma: (1.7,), math.pow: (0.7, 1.9)}
_WITHIN |= {math.tan: (0.7,), np.tan: (0.7,), np.fmod: (7.5, 2.0), np.remainder: (7.5, 2.0)}


def scalar_calls(section, module, names):
    """A probe of each function of scalars, at a point of the domain that its rule's case has."""
    domains = _domains()
    for name in names:
        fn = getattr(module, name)
        point = _WITHIN.get(fn) or domains[fn]
        offsets = ", ".join(f"x + {v - 0.7!r}" for v in point)
        module_name = module.__name__.strip("_").replace("numpy", "np")
        call = f"{module_name}.{name}"
        section.call(
            f"{call}",
            f"{call}({offsets})",
            names=(f"{module.__name__.strip('_')}.{name}",),
            grouped=True,
        )


scalar_calls(
    math_section,
    math,
    "acos acosh asin asinh atan atan2 atanh copysign cos cosh degrees erf erfc exp expm1 fabs gamma"
    " hypot lgamma log log10 log1p log2 pow radians sin sinh sqrt tan tanh".split()
    + [name for name in ("exp2",) if hasattr(math, name)],
)


def _constant_math(name, expression):
    math_section.constant(f"math.{name}", expression, names=(f"math.{name}",), grouped=True)


for _name in ("ceil", "floor", "trunc"):
    _constant_math(_name, f"math.{_name}(x * 9.0)")
for _name in ("isfinite", "isinf", "isnan"):
    _constant_math(_name, f"math.{_name}(x) + 1")
_constant_math("gcd", "math.gcd(n, 6)")
math_section.call("math.frexp", "math.frexp(x * x + 0.1)[0]", grouped=True)
math_section.call("math.ldexp", "math.ldexp(x * x, n)", grouped=True)
math_section.call("math.nextafter", "math.nextafter(x, y)", grouped=True)
math_section.call("math.pi, e, inf, nan, tau", "math.pi * x * x + math.e", names=(), grouped=True)

for _name in (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10"),
    *("sin", "sinh", "sqrt", "tan", "tanh"),
):
    cmath_section.call(f"cmath.{_name}", f"mix(cmath.{_name}(complex(x, 0.4)))", grouped=True)
for _name in ("isfinite", "isinf", "isnan"):
    cmath_section.constant(f"cmath.{_name}", f"cmath.{_name}(complex(x, 0.4)) + 1", grouped=True)
cmath_section.call("cmath.phase", "cmath.phase(complex(x, 0.4))", grouped=True)
cmath_section.call(
    "cmath.polar", "cmath.polar(complex(x, 0.4))[0] * cmath.polar(complex(x, 0.4))[1]", grouped=True
)
cmath_section.call("cmath.rect", "mix(cmath.rect(x, x * y))", grouped=True)


def _operator(names, expression, constant=False):
    add = operator_section.constant if constant else operator_section.call
    names = names.split()
    for name in names:
        call = expression.replace("OP", f"operator.{name}")
        add(f"operator.{name}", call, names=(f"operator.{name}",), grouped=True)


_operator("add sub mul truediv mod pow iadd isub imul itruediv imod ipow", "OP(x * y, x + 1.1)")
_operator("neg pos", "OP(x * x)")
_operator("floordiv ifloordiv", "OP(x * 9.0, y) + 1", constant=True)
_operator("eq ge gt le lt ne is_ is_not", "OP(x, 0.4) + 1", constant=True)
_operator("not_", "OP(x) + 1", constant=True)
_operator("truth", "OP(x > 0.4) + 1", constant=True)
_operator("and_ or_ xor lshift rshift iand ior ixor ilshift irshift", "OP(n, 2) + 1", constant=True)
_operator("invert", "OP(n)", constant=True)
_operator("contains", "OP((1, 3), n) + 1", constant=True)
operator_section.call("operator.getitem", "operator.getitem(a, 1) * a[0]")


@operator_section.feature(
    "`operator.setitem`, `operator.delitem`", names=("operator.setitem", "operator.delitem")
)
def set_item(x):
    values = [x, 1.0]
    operator.setitem(values, 1, x * x)
    operator.delitem(values, 0)
    return values[0]


@operator_section.feature("`operator.matmul`, `@`", names=("operator.matmul",))
def matrix_product(m, s):
    return total2(m @ s)


# -- array, collections, ctypes, enum, functools, heapq, random --------------------------------


@others.feature("`array.array`")
def array_array(x, buffer):
    return x * x * buffer[1] * len(buffer)


@others.feature("`collections.namedtuple`")
def named_tuple(pair):
    return pair.first * pair[1] * pair.first


_LIBM = ctypes.CDLL(ctypes.util.find_library("m"))
c_cos = _LIBM.cos
c_cos.argtypes = [ctypes.c_double]
c_cos.restype = ctypes.c_double


@others.feature("`ctypes` function of a differentiated value")
def c_function(x):
    return c_cos(x) * x


@others.feature("`ctypes` function of a constant")
def c_function_constant(x, y):
    return c_cos(y) * x * x


class Kind(enum.Enum):
    SLOW = 1
    FAST = 2


class Count(enum.IntEnum):
    TWO = 2
    THREE = 3


@others.feature("`enum.Enum`", names=("Enum.value",))
def enum_member(x):
    return x * x * Kind.FAST.value if Kind.FAST != Kind.SLOW else x


@others.feature("`enum.IntEnum`")
def int_enum_member(x):
    return x * x if Count.THREE > Count.TWO + 0 else x


@njit
def product(v, w):
    return v * w


@others.feature("`functools.reduce`", names=("functools.reduce",))
def reduced(a):
    return reduce(product, a, 1.0)


@others.feature(
    "`heapq.heappush`, `heappop`, `heappushpop`",
    names=("heapq.heappush", "heapq.heappop", "heapq.heappushpop"),
)
def heap_push(x, y):
    heap = [y]
    heapq.heappush(heap, x * x)
    return heapq.heappop(heap) * heapq.heappushpop(heap, 3.0)


@others.feature("`heapq.heapify`, `heapreplace`", names=("heapq.heapify", "heapq.heapreplace"))
def heap_make(x, y):
    heap = [y, x, x * x]
    heapq.heapify(heap)
    return heapq.heapreplace(heap, 3.0) * heap[0]


@others.feature("`heapq.nlargest`, `nsmallest`", names=("heapq.nlargest", "heapq.nsmallest"))
def heap_largest(x, y):
    values = [y, x, x * x]
    return heapq.nlargest(2, values)[1] * heapq.nsmallest(1, values)[0]


# -- numba -----------------------------------------------------------------------------------

numba_section = Section("Numba's own functions")


@numba_section.feature(
    "`numba.get_num_threads`, `get_thread_id`, `get_parallel_chunksize`",
    names=[
        f"numba.{name}"
        for name in (
            "get_num_threads get_thread_id get_parallel_chunksize set_num_threads"
            " set_parallel_chunksize gdb gdb_breakpoint gdb_init"
        ).split()
    ],
    constant=True,
)
def threads(x):
    return x * (numba.get_num_threads() + numba.get_parallel_chunksize())

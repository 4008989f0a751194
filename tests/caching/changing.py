"""Functions whose derivatives hang on one factor each, in different ways; run by `test_changes.py`.

`FACTOR` stands for a number in this file and in the modules that it imports. The function of each
case has the derivative FACTOR at 1, but where it says otherwise.
"""

import enum
import math
import os
from collections import namedtuple

import changing_constants as constants
import changing_package
import numpy as np
from changing_constants import deep
from llvmlite import ir
from numba import float64, njit
from numba.experimental import jitclass
from numba.extending import intrinsic, overload

import numbad as nd
from tests.caching.counting import record, report

reverse = {"mode": "reverse"}
TUPLE = (1.0, FACTOR)  # noqa: F821
SINGLE = np.float32(FACTOR)  # noqa: F821
ARRAY = np.array([FACTOR])  # noqa: F821
Pair = namedtuple("Pair", "first second" if FACTOR == 2.0 else "second first")  # noqa: F821


class Level(enum.IntEnum):
    HIGH = int(FACTOR)  # noqa: F821


@jitclass([("a", float64)])
class Scale:
    def __init__(self, a):
        self.a = a

    def of(self, x):
        return self.a * x * FACTOR  # noqa: F821


def overloaded(x):
    raise NotImplementedError


@overload(overloaded, inline="always")
def _overloaded(x):
    return lambda x: x * FACTOR  # noqa: F821


@intrinsic
def emitted(typingctx, x):
    def codegen(context, builder, sig, args):
        return ir.Constant(ir.DoubleType(), FACTOR)  # noqa: F821

    return float64(x), codegen


@njit
def between(x):
    return deep(x)


@njit
def two_levels_down(x):
    return between(x)


def closure(factor):
    @njit
    def of_closure(x):
        return factor * x

    return of_closure


@njit
def of_tuple(x):
    return x * TUPLE[1]


@njit
def of_numpy_scalar(x):
    return x * SINGLE


@njit
def of_array(x):
    return x * ARRAY[0]


@njit
def of_module(x):
    return x * constants.NUMBER


@njit
def of_numpy_scalar_in_module(x):
    return x * constants.SINGLE


@njit
def of_tuple_in_module(x):
    return x * constants.TUPLE[0]


@njit
def of_function_in_package(x):
    return changing_package.inner.times(x)


@njit
def of_enum(x):
    return x * Level.HIGH.value


@njit
def of_jitclass(x):
    return Scale(1.0).of(x)


@njit
def of_instance(x, scale):
    return scale.of(x)


@njit
def of_overload(x):
    return overloaded(x)


@njit
def of_intrinsic(x):
    return x * emitted(1.0)


@njit
def of_default(x, factor=FACTOR):  # noqa: F821
    return x * factor


@njit
def of_fields(pair):
    return pair.first * 2.0 + pair.second * 3.0


@njit
def applied(function, x):
    return function(x)


@njit
def ruled(x):
    return x


nd.rule(ruled, vjp=(lambda x: (x, 0.0), lambda _, c: (deep(c),)))


@njit
def with_rule(x):
    return ruled(x)


@njit
def ruled_symbolically(x):
    return x


nd.scalar_rule(ruled_symbolically, lambda ans, x: FACTOR + 0.0 * x)  # noqa: F821


@njit
def with_symbolic_rule(x):
    return ruled_symbolically(x)


checkpointed = nd.checkpoint(deep)


@njit
def with_checkpoint(x):
    return checkpointed(x)


@njit(fastmath=FACTOR != 2.0)  # noqa: F821
def of_options(x):
    return (x + 1e16) - 1e16


@njit
def of_instance_of_class(scale, x):
    return scale.of(x)


@njit
def sine(x):
    return math.sin(x)


def gradient(name, f, *args, argnums=0):
    record(name, nd.grad(f, argnums, **reverse), *args)


gradient("two levels down", two_levels_down, 1.0)
gradient("closure", closure(FACTOR), 1.0)  # noqa: F821
gradient("tuple", of_tuple, 1.0)
gradient("NumPy scalar", of_numpy_scalar, 1.0)
gradient("array", of_array, 1.0)
gradient("module", of_module, 1.0)
gradient("NumPy scalar in a module", of_numpy_scalar_in_module, 1.0)
gradient("tuple in a module", of_tuple_in_module, 1.0)
gradient("function in a package", of_function_in_package, 1.0)
gradient("enum", of_enum, 1.0)
gradient("jitclass", of_jitclass, 1.0)
gradient("jitclass as argument", of_instance, 1.0, Scale(1.0))
gradient("overload", of_overload, 1.0)
gradient("intrinsic", of_intrinsic, 1.0)
gradient("default", of_default, 1.0)
gradient("function as argument", applied, deep, 1.0, argnums=1)
gradient("rule", with_rule, 1.0)
gradient("symbolic rule", with_symbolic_rule, 1.0)
gradient("checkpoint", with_checkpoint, 1.0)
record("fields", lambda: tuple(nd.grad(of_fields, **reverse)(Pair(1.0, 1.0))))  # by place
record("options", lambda: nd.value_and_grad(of_options, **reverse)(1.0)[0])
if "SETTING" in os.environ:
    nd.scalar_rule(math.sin, lambda ans, x: float(os.environ["SETTING"]) + 0.0 * x)
gradient("rule of a built-in function", sine, 0.0)
report()

"""Derivatives of every kind, recorded; run twice by `test_second_process.py`, with one cache."""

import linecache
import math
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
from numba import float64, njit
from numba.experimental import jitclass

import numbad as nd
from numbad.compilation.caching import jit
from tests.compilation.counting import record, report

x = np.array([1.0, 2.0, 3.0])
weights = np.array([1.0, 10.0, 100.0])
reverse = {"mode": "reverse"}
Point = namedtuple("Point", "a b")  # of `__main__`: it cannot be imported elsewhere
Number = np.dtype(np.float64)


class OwnError(Exception):
    pass


@njit
def cube(x):
    return x * x * x


@njit
def between(x, y):
    return cube(x) * y


@njit
def scalars(x, y):
    total = 0.0
    for i in range(3):
        total += between(x, y) * i
    return total


@njit
def cubes(a):
    total = 0.0
    for i in range(a.size):
        total += cube(a[i])
    return total


def of_tangents(a):
    return np.dot(np.tanh(a), a)


@njit
def pair(a):
    out = np.empty(2)
    out[0] = cubes(a)
    out[1] = a[0] * a[1]
    return out


many = np.arange(200_000.0)  # larger than what Numba writes into the code
every_other = np.arange(20.0)[::2]


@njit
def with_constants(x):
    total = 0.0
    for i in range(many.size):
        total += many[i] * x
    for i in range(every_other.size):
        total += every_other[i] * x * x
    return total


def weighted(function, weights):
    @njit
    def total(a):
        out = 0.0
        for i in range(a.size):
            out += function(a[i]) * weights[i]
        return out

    return total


@njit
def applied(function, x):
    return function(x) * x


recomputed = nd.checkpoint(between)


@njit
def checkpointed(x):
    y = x
    for _ in range(2):
        y = recomputed(x, y)
    return y


@njit
def ruled(x):
    return x * x


nd.rule(ruled, vjp=(lambda x: (ruled(x), x), lambda x, c: (5.0 * x * c,)))


@njit
def with_rule(x):
    return ruled(x) * x


@njit
def recursive(x, n):
    return x if n == 0 else recursive(x, n - 1) * x


@njit
def raising(x):
    if x < 0.0:
        raise OwnError("negative")
    return x * x


@njit
def of_point(p):
    return p.a * p.a * p.b


@njit
def with_dtype(x):
    a = np.empty(2, Number)
    a[0] = x
    return a[0] * x


def never(expression, caller, callee):
    return False


@njit(inline=never)
def by_cost_model(x):
    return x * x


@njit
def inlining(x):
    return by_cost_model(x) * x


@jitclass([("a", float64)])
class Scaled:
    def __init__(self, a):
        self.a = a

    def square(self, x):
        return self.a * x * x


@njit
def of_instance(x):
    return Scaled(2.0).square(x)


@njit
def of_given_instance(scaled, x):
    return scaled.square(x)


gradient = nd.grad(cubes, **reverse)
of_constants = nd.grad(with_constants, **reverse)


@njit
def calls_gradient(a):
    return gradient(a)[2]


@jit
def kept_and_calls_gradients(a):
    return gradient(a)[2] + of_constants(a[0])


def cell(source, number):
    """Run a cell as IPython does: its file does not exist, `linecache` holds the lines."""
    name = f"/tmp/ipykernel_1/{number}.py"
    linecache.cache[name] = len(source), None, source.splitlines(True), name
    exec(compile(source, name, "exec"), globals())


cell("@njit\ndef in_cell(x):\n    return cube(x) * x\n", 1)
cell("of_cell = nd.grad(in_cell, mode='reverse')\n", 2)


def caught(function):
    """Whether an error of this program's own class is raised as such."""
    try:
        function(-1.0)
    except OwnError:
        return True


record("grad", nd.grad(scalars, **reverse), 2.0, 5.0)
record("grad by an array", gradient, x)
record("value_and_grad", nd.value_and_grad(scalars, (0, 1), **reverse), 2.0, 5.0)
record("jacobian", nd.jacobian(pair, **reverse), x)
record("value_and_jacobian", nd.value_and_jacobian(pair, **reverse), x)
record("hessian", nd.hessian(cubes, **reverse), x)
record("hvp", nd.hvp(cubes), (x,), (x,))
record("vjp", nd.vjp(pair), (x,), np.array([1.0, 10.0]))
record("grad of grad", nd.grad(nd.grad(cube, **reverse), **reverse), 2.0)
record("closure", nd.grad(weighted(cube, weights), **reverse), x)
record("large arrays", nd.grad(with_constants, **reverse), 0.5)
record("large array in a closure", nd.grad(weighted(cube, np.full(10**6, 2.0)), **reverse), x)
record("function as argument", nd.grad(applied, 1, **reverse), cube, 2.0)
record("other function as argument", nd.grad(applied, 1, **reverse), ruled, 2.0)
record("lambda", nd.grad(lambda z: applied(cube, z), **reverse), 2.0)
record("checkpoint", nd.grad(checkpointed, **reverse), 2.0)
record("rule", nd.grad(with_rule, **reverse), 2.0)
record("recursion", nd.grad(recursive, **reverse), 2.0, 4)
record("exception", caught, nd.grad(raising, **reverse))
record("namedtuple", nd.grad(of_point, **reverse), Point(2.0, 3.0))
record("namedtuple's class", lambda: type(nd.grad(of_point, **reverse)(Point(2.0, 3.0))) is Point)
record("dtype", nd.grad(with_dtype, **reverse), 3.0)
record("cost model", nd.grad(inlining, **reverse), 2.0)
record("jitclass", nd.grad(of_instance, **reverse), 3.0)
scaled = Scaled(2.0)
record("jitclass as argument", nd.grad(of_given_instance, 1, **reverse), scaled, 3.0)
record("cell", of_cell, 2.0)  # noqa: F821
record("built-in function", nd.grad(math.sin, **reverse), 0.0)
record("called by njit", calls_gradient, x)
record("kept, and called by what is kept", kept_and_calls_gradients, x)
with nd.vector_math():
    record("in vector math", nd.grad(of_tangents, **reverse), np.array([0.0, 30.0]))
record("out of it", nd.grad(of_tangents, **reverse), np.array([0.0, 30.0]))
record("listing", lambda: nd.inspect_adjoint(scalars, 2.0, 5.0))
assert "numba" in sys.modules
assert Path(__file__).exists()
report()

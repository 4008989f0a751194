"""Probes of the language: functions, exceptions, generators, comprehensions."""

import numba
import numpy as np
from numba import njit

import numbad as nd

from ..operators.structrefs import Pair
from .probe import Section

functions = Section("Language: functions")
exceptions = Section("Language: exceptions and contexts")
comprehensions = Section("Language: comprehensions and generators")


@njit
def scaled(v, factor=2.0, power=3):
    return factor * v**power


@njit
def product_of(*values):
    r = 1.0
    for v in values:
        r *= v
    return r


@njit
def apply(f, v):
    return f(v)


@njit
def square(v):
    return v * v


@njit
def doubled_and_squared(a, n):
    if n == 0:
        return a * a
    return doubled_and_squared(2.0 * a, n - 1) * a


@njit
def factorial(v):
    return v if v < 0.5 else v * factorial(v - 0.5)


@njit
def even_step(v, n):
    return v if n == 0 else v * odd_step(v, n - 1)


@njit
def odd_step(v, n):
    return v if n == 0 else (v + 1.0) * even_step(v, n - 1)


@njit
def negated(v):
    return -v


@njit
def both(v, w):
    return v * w, v + w


@njit
def store_square(out, k, v):
    out[k] = v * v


@functions.feature("call of another compiled function")
def call(x):
    return square(square(x))


@functions.feature("default and keyword arguments")
def keywords(x):
    return scaled(x) + scaled(x, power=2) + scaled(v=x, factor=x)


@functions.feature("`*args`")
def star_args(x, y):
    return product_of(x, y, x)


@functions.feature("call with `*tuple`")
def star_call(duo):
    return product_of(*duo)


@functions.feature("several results")
def several(x, y):
    p, q = both(x, y)
    return p * q


@functions.feature("array written by a callee")
def written(x):
    out = np.zeros(2)
    store_square(out, 1, x)
    return out[1] * x


@functions.feature("function as an argument")
def function_argument(x):
    return apply(square, x)


@functions.feature("function picked by a branch")
def picked_function(x, y):
    f = square if x > y else negated
    return f(x * y)


@functions.feature("inner function")
def inner(x):
    def cube(v):
        return v * v * v

    return cube(x)


@functions.feature("closure")
def closure(x, y):
    def scale(v):
        return v * y * x

    return scale(x)


@functions.feature("closure handed to an operator")
def closure_in_operator(x, y):
    return nd.grad(lambda v: v * v * y * x)(x)


@functions.feature("`lambda`")
def inner_lambda(x):
    f = lambda v: v * v * v  # noqa: E731
    return f(x)


@functions.feature("recursion")
def recursion(x):
    return factorial(x + 2.0)


@functions.feature("recursion that returns arrays")
def recursion_of_arrays(a):
    return doubled_and_squared(a, 3)[1]


@functions.feature("mutual recursion")
def mutual_recursion(x, n):
    return even_step(x, n)


@numba.vectorize
def vectorized(v, w):
    return v * w * w


@functions.feature("`@vectorize`d function of scalars")
def call_vectorized(x, y):
    return vectorized(x, y)


@functions.feature("`@vectorize`d function of arrays")
def call_vectorized_arrays(a, b):
    return vectorized(a, b)[2]


@numba.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
def norm_squared(v, out):
    out[0] = 0.0
    for item in v:
        out[0] += item * item


@functions.feature("`@guvectorize`d function")
def call_guvectorized(a):
    out = np.zeros(1)
    norm_squared(a, out[0:1].reshape(()))
    return out[0]


@numba.stencil
def second_difference(v):
    return v[-1] - 2.0 * v[0] * v[0] + v[1]


@functions.feature("`@stencil`")
def call_stencil(a):
    return second_difference(a)[1]


@numba.cfunc("float64(float64)")
def c_callback(v):
    return v * v


@functions.feature(
    "`@cfunc` of numbers, called by its name",
    names=("numba.carray", "numba.farray"),
)
def call_cfunc(x):
    return c_callback(x) * x


@numba.experimental.jitclass([("rate", numba.float64)])
class Model:
    def __init__(self, rate):
        self.rate = rate

    def flow(self, v):
        return self.rate * v

    @property
    def doubled(self):
        return 2.0 * self.rate


@numba.experimental.jitclass([("rate", numba.float64)])
class Weighted:
    def __init__(self, rate):
        self.rate = rate

    def __add__(self, other):
        return Weighted(self.rate + other.rate)

    def __mul__(self, factor):
        return Weighted(self.rate * factor)

    def __getitem__(self, i):
        return self.rate * i


@functions.feature("`@jitclass` instance that holds a differentiated float")
def jit_class(x):
    model = Model(x)
    return model.flow(x) + model.doubled


@functions.feature("operators and items of a `@jitclass`", seeded=True)
def jit_class_operators(x):
    both = (Weighted(x) + Weighted(x * x)) * x
    return both[1] * both.rate


@functions.feature("`structref`: fields, methods, attributes, operators", seeded=True)
def structref_made(x):
    pair = Pair(x, 1.0) + Pair(x * x, x)
    pair.scale(x)
    pair.y = pair.x * pair.y
    return pair.weighted(x) + pair.area


@functions.feature("`structref` in a list", seeded=True)
def structref_in_list(x):
    pairs = [Pair(x, x * x), Pair(1.0, x)]
    pairs.append(pairs[0])
    s = 0.0
    for pair in pairs:
        pair.x *= x
        s += pair.x * pair.y
    return s


@numba.experimental.jitclass([("flows", numba.types.ListType(numba.float64))])
class Recorder:
    def __init__(self):
        self.flows = numba.typed.List.empty_list(numba.float64)

    def add(self, v):
        self.flows.append(v)


@functions.feature("`@jitclass` with a list among its fields", seeded=True)
def jit_class_with_list(x):
    recorder = Recorder()
    recorder.add(x)
    recorder.add(recorder.flows[0] * x)
    return recorder.flows[0] + recorder.flows[1]


@functions.feature("`structref` with a list among its fields", seeded=True)
def structref_with_list(x):
    pair = Pair([x, x * x], x)
    pair.x.append(pair.y)
    return pair.x[1] * pair.x[2]


@functions.feature("`@jitclass` instance as a constant")
def jit_class_constant(x, y):
    return Model(y).flow(x) * x


# -- exceptions ------------------------------------------------------------------------------


@exceptions.feature("`raise`")
def raising(x):
    if x < 0.0:
        raise ValueError("negative")
    return x * x


@exceptions.feature("`raise` with a differentiated argument")
def raising_value(x):
    if x < 0.0:
        raise ValueError("negative", x)
    return x * x


@exceptions.feature("`assert`")
def asserting(x):
    assert x > 0.0, "negative"
    return x * x


@njit
def checked(x):
    if x > 0.5:
        raise ValueError("large")
    return x


@exceptions.feature("`try`, `except`")
def try_except(x):
    r = x
    try:
        r = checked(x)
    except Exception:
        r = x * x
    return r


@exceptions.feature("`try`, `except`, `else`")
def try_else(x):
    r = x
    try:
        r = checked(x - 0.5)
    except Exception:
        r = x * x
    else:
        r = r * x * x
    return r


@exceptions.feature("`try`, `finally`")
def try_finally(x):
    r = x
    try:
        r = checked(x - 0.5) * x
    finally:
        r = r * x
    return r


@exceptions.feature("`with objmode`")
def object_mode(x):
    with numba.objmode(r="float64"):
        r = x * x
    return r


@exceptions.feature("`with objmode`, no float from it")
def object_mode_for_text(x):
    with numba.objmode(n="int64"):
        n = 4 * int(x > 0)
    return x * x * n


# -- comprehensions and generators -----------------------------------------------------------


@comprehensions.feature("list comprehension")
def list_comprehension(a):
    values = [v * v for v in a]
    return values[0] * values[2]


@comprehensions.feature("array comprehension")
def array_comprehension(a):
    values = np.array([v * v for v in a])
    return values[0] * values[2]


@comprehensions.feature("nested array comprehension")
def nested_comprehension(a):
    values = np.array([[a[j] * a[k] for j in range(3)] for k in range(3)])
    return values[0, 1] * values[2, 1]


@comprehensions.feature("list comprehension with a condition")
def filtered_comprehension(a):
    values = [v * v for v in a if v > 0.5]
    return values[0] * values[2]


@comprehensions.feature("list comprehension of constants", constant=True)
def constant_comprehension(x, n):
    return x * len([k * k for k in range(n)])


@njit
def powers(v, n):
    p = 1.0
    for _ in range(n):
        p = p * v
        yield p


@njit
def counting(n):
    for k in range(n):  # noqa: UP028
        yield k


@comprehensions.feature("generator function of differentiated values")
def generator(x, n):
    r = 0.0
    for p in powers(x, n):
        r += p
    return r


@comprehensions.feature("generator function of constants")
def constant_generator(x, n):
    r = 1.0
    for k in counting(n):
        r = r * x + k
    return r

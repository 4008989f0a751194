"""Functions of one element of a batch, with the axes and arguments to try them on."""

import math
from dataclasses import dataclass

import numba
import numpy as np

PROGRAMS = []


@dataclass
class Program:
    f: object
    axes: tuple
    args: tuple

    def count(self):
        return next(a.shape[x] for a, x in zip(self.args, self.axes, strict=True) if x is not None)

    def element(self, i):
        """The arguments of one evaluation, as Python has them."""
        pairs = zip(self.args, self.axes, strict=True)
        found = [a if x is None else np.take(a, i, x) for a, x in pairs]
        return tuple(float(a) if isinstance(a, np.floating) else a for a in found)


def on(axes, *args):
    def register(f):
        PROGRAMS.append(Program(numba.njit(f), axes, args))
        return f

    return register


def _rng(seed):
    return np.random.default_rng(seed)


_X = np.array([0.0, 2.0, -1.5, 0.5, 1.0, -0.25, 3.0])
_Y = np.array([1.0, -0.5, 0.75, 0.25, -2.0, 0.0, 4.0])


@on((0, 0, None), _X, _Y, 1.25)
def nested(x, y, a):
    r = a * x
    if x > 0.0:
        shifted = y - 0.5
        r = math.log(x) + y / x
        if shifted > 0.0:
            r = r * math.sqrt(shifted)
        else:
            r = r - x
    elif y < 0.0:
        r = math.exp(y) * x * x
    return r


@on((0, 0), _X, _Y)
def linear_before(x, y):
    """The inner branch takes the root of what only some lanes of the outer one may."""
    r = 0.0
    if x > -1.0:
        s = x + y
        r = s
        if s > 0.0:
            r = math.sqrt(s) + y
    return r * y


@on((0,), _X)
def divided(x):
    """What lanes compute with that do not come here would be divided by zero."""
    if x > 1.0:
        return 1.0 / (x - 0.5) + (x - 0.5) ** -1
    return x * x


@on((0, 0), _X, _Y)
def early(x, y):
    if x < 0.0:
        return x * y
    if y > 1.0:
        return y / (x + 1.0)
    return math.sin(x) * y


@on((0, 0), _X, _Y)
def short_circuit(x, y):
    if x > 0.0 and y / x > 0.2:
        return y / x
    if x < -1.0 or y < 0.0:
        return x * y * y
    return math.exp(x * y)


@on((0, 0, None), _X + 0.125, _Y, 0.3)
def extrema(x, y, strike):
    return max(x - strike, 0.0) * min(y, x, 2.0) + max(1, y) + abs(x) * y


@on((0, None), np.abs(_X) + 0.1, 1.7)
def powers(x, p):
    return x**2 + 0.5 * x**-1 + x**3.5 + x**p


@numba.njit
def _softened(x, width):
    if abs(x) > width:
        return abs(x) - 0.5 * width
    return 0.5 * x * x / width


@on((0, None), _X, 0.7)
def callee(x, width):
    return _softened(x, width) * x


@on((None, 0, None), np.array([0.5, -1.25]), _X, (2.0, 0.25))
def shared(w, x, c):
    r = c[0] * x
    for k in range(w.size):
        r = r * x + w[k]
        if r < 0.0:
            r = r * c[1]
    return r, w[0] * x


@on(
    (None, 0, 0, 1),
    0.04,
    np.array([0.01, 0.2, 0.0, 0.05, 0.1, 0.08, 0.3]),
    _rng(1).normal(size=(7, 6)),
    _rng(2).normal(size=(6, 7)),
)
def path(rate, v, z, w):
    """Euler steps of a variance that is cut off at zero."""
    s = 1.0
    for i in range(z.size):
        root = 0.0
        if v > 0.0:
            root = math.sqrt(v)
        s = s + rate * s + root * s * z[i]
        v = v + 0.5 * (0.04 - max(v, 0.0)) + 0.9 * root * w[i]
    if s > 1.0:
        return s - 1.0
    return 0.0


@on((2, 0, None), _rng(3).normal(size=(3, 2, 5)), _rng(4).normal(size=5), 2)
def matrix(m, x, k):
    """An axis that is the last one of three, a shared int, a branch that all lanes take alike."""
    r = 0.0
    for i in range(m.shape[0]):
        if i == k:
            continue
        for j in range(m.shape[1]):
            r += m[i, j] * x ** (j + 1)
    return r if r > 0.0 else r * r

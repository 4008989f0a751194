"""One probe a feature: a small function that uses the feature, and what is differentiated in it.

A probe's first parameter is differentiated; its parameters are named after the values in `VALUES`. In
a constant probe the result is the first parameter (its item 1 where it is an array) times the feature.
"""

import array
import ast
import types
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass

import numba
import numpy as np

from numbad.source import define

Pair = namedtuple("Pair", "first second")

POINT = np.dtype([("u", np.float64), ("v", np.float64), ("k", np.int64)])

CONSTANTS = {
    "n": lambda: 3,
    "i": lambda: np.array([2, 0, 3, 1]),
    "c": lambda: np.array([True, False, True, True]),
    "text": lambda: "numbad",
    "words": lambda: np.array(["ab", "abc"]),
    "data": lambda: b"numbad",
    "buffer": lambda: array.array("d", [1.0, 3.0]),
    "day": lambda: np.datetime64("2026-11-21"),
    "start": lambda: np.datetime64("2026-11-01"),
    "rng": lambda: np.random.default_rng(7),
    "missing": lambda: None,
}
"""Values without a derivative."""


def _points():
    return np.array([(0.7, 1.9, 3), (0.2, 0.5, 4)], POINT).view(np.recarray)


VALUES = {
    "x": lambda: 0.7,
    "y": lambda: 1.9,
    "a": lambda: np.array([0.9, 2.1, 0.4, 1.7]),
    "b": lambda: np.array([1.3, 0.6, 2.2, 0.8]),
    "m": lambda: np.array([[2.0, 0.3, 0.7], [0.4, 1.5, 0.2], [0.9, 0.1, 3.1]]),
    "s": lambda: np.array([[2.0, 0.3, 0.7], [0.3, 1.5, 0.2], [0.7, 0.2, 3.1]]),
    "h": lambda: np.arange(1.0, 9.0).reshape(2, 2, 2) ** 1.1,
    "f": lambda: np.array([0.9, 2.1, 0.4], np.float32),
    "pair": lambda: Pair(0.7, 1.9),
    "duo": lambda: (0.7, 1.9),
    "point": lambda: _points()[0],
    "points": lambda: _points(),
} | CONSTANTS
"""What a probe's parameters stand for, made anew for every call."""


@dataclass(frozen=True)
class Probe:
    """How one feature is tried.

    feature: as the table spells it
    names: what Numba's registries call the features that this probe stands for
    function: of the values named by its parameters
    constant: whether the feature itself carries no derivative
    seeded: whether plain Python has it not or draws other numbers, so that Numba's primal is the oracle
    rtol: how closely the differences agree, in the precision that the feature computes in
    oracle: what stands for the function where differences are taken; None: the function itself
    grouped: whether it compiles so fast that many are tried in one function
    """

    feature: str
    names: tuple
    function: Callable
    constant: bool = False
    seeded: bool = False
    rtol: float = 1e-7
    oracle: Callable | None = None
    grouped: bool = False

    @property
    def parameters(self):
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount]

    def arguments(self):
        return tuple(VALUES[name]() for name in self.parameters)

    def plain(self):
        """The function for the interpreter, with no compiled helper behind it."""
        f = self.function
        names = {
            k: getattr(v, "py_func", v) if k in REDUCERS else v for k, v in f.__globals__.items()
        }
        return types.FunctionType(f.__code__, names, f.__name__, f.__defaults__, f.__closure__)


@numba.njit
def total(r):
    """All items of a vector, each with its own weight."""
    out = 0.0
    for k in range(r.shape[0]):
        out += (1.0 + 0.37 * k) * r[k]
    return out


@numba.njit
def total2(r):
    """The same of a matrix."""
    out = 0.0
    for j in range(r.shape[0]):
        for k in range(r.shape[1]):
            out += (1.0 + 0.37 * k + 0.83 * j) * r[j, k]
    return out


@numba.njit
def total3(r):
    """The same of an array of rank three."""
    out = 0.0
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            for k in range(r.shape[2]):
                out += (1.0 + 0.37 * k + 0.83 * j + 1.9 * i) * r[i, j, k]
    return out


@numba.njit
def mix(z):
    """Real and imaginary part of a complex number in one float."""
    return z.real + 2.0 * z.imag


REDUCERS = {"total": total, "total2": total2, "total3": total3, "mix": mix}


class Section:
    """The probes of one section of Numba's manual, in the order of the table."""

    def __init__(self, title, namespace=None):
        self.title = title
        self.probes = []
        self.namespace = dict(namespace or {}, np=np, **REDUCERS)

    def feature(self, feature, names=(), **options):
        """A decorator for a probe written as a function."""

        def add(function):
            self._add(Probe(feature, tuple(names), function, **options))
            return function

        return add

    def call(self, name, expression, *, feature=None, names=None, before="", **options):
        """A probe written as one expression; the first of `VALUES` in it is differentiated.

        before: a statement that is run first
        """
        parameters = ", ".join(parameters_of(expression))
        lines = [f"def probe({parameters}):", *filter(None, [before]), f"return {expression}"]
        function = define("\n    ".join(lines) + "\n", self.namespace)
        names = (name,) if names is None else names
        self._add(
            Probe(
                feature or (name if set(name) & set(" `") else f"`{name}`"),
                tuple(names),
                function,
                **options,
            )
        )

    def constant(self, name, expression, **options):
        """A probe of a feature without derivative: the differentiated value times `expression`."""
        parameters = [p for p in parameters_of(expression) if p in ("x", "a", "m")]
        factor = {"a": "a[1]", "m": "m[1, 1]"}.get(parameters[0] if parameters else "x", "x")
        self.call(name, f"{factor} * ({expression})", constant=True, **options)

    def _add(self, probe):
        if any(probe.feature == other.feature for other in self.probes):
            raise ValueError(f"two probes of {probe.feature} in {self.title}")
        self.probes.append(probe)


def parameters_of(expression):
    """The names of `VALUES` in an expression as they occur, those without derivative last."""
    nodes = [n for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    found = dict.fromkeys(node.id for node in nodes if node.id in VALUES)
    return sorted(found, key=lambda name: name in CONSTANTS)

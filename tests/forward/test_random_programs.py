"""Random programs: loops, branches, arrays changed in place, aliases, swaps, calls.

Each is compiled for duals and compared with the same source run by Python in mpmath.
`NUMBAD_RANDOM_PROGRAMS` says how many, `NUMBAD_RANDOM_SEED` which. A failing one is shrunk and printed.
"""

import copy
import math
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, seed, settings
from hypothesis import strategies as st
from mpmath import mp
from numba import njit
from numba.core.errors import TypingError

from numbad.source import define
from tests.forward.compare import check
from tests.forward.exact import exactly, flat, to_exact

COUNT = int(os.environ.get("NUMBAD_RANDOM_PROGRAMS", "25"))
SEED = int(os.environ.get("NUMBAD_RANDOM_SEED", "0"))
PARTS = 10
SHARES = [0, *(pytest.param(k, marks=pytest.mark.deep) for k in range(1, PARTS))]
SIZE = 4


@njit
def blend(x, y=0.5, n=2):
    return x * y + math.sin(x) / n


@njit
def put(b, i, x):
    b[i] = x


@njit
def shifted(b, x):
    out = np.zeros(len(b))
    for i in range(len(b)):
        out[i] = b[i - 1] + x
    return out


@njit
def total(b):
    s = 0
    for v in b:
        s += v
    return s


@njit
def either(b, c, x):
    return b if x > 0 else c


@njit
def back(b):
    return b[::-1]


HELPERS = {f.py_func.__name__: f for f in (blend, put, shifted, total, either, back)}


class Writer:
    """Writes one program, drawing every choice."""

    def __init__(self, draw):
        self.draw = draw
        self.scalars, self.arrays, self.indices = ["x", "y"], ["a"], []
        self.lines = []

    def pick(self, *choices):
        return self.draw(st.sampled_from(choices))

    def write(self):
        self.block(1, self.draw(st.integers(3, 7)), nesting=2)
        result = [*self.scalars[-3:], *self.arrays[-2:]]
        header = "def program(x, y, a):\n"
        return header + "\n".join(self.lines) + f"\n    return {', '.join(result)}\n"

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    # -- expressions -------------------------------------------------------------------------

    def scalar(self, depth=2):
        kinds = ["name", "name", "literal", "element"]
        if depth:
            kinds += ["binary", "binary", "call", "call", "extremum", "power", "quotient"]
        return getattr(self, "_" + self.pick(*kinds))(depth - 1)

    def _name(self, _):
        return self.pick(*self.scalars)

    def _literal(self, _):
        return self.pick("0.5", "1", "-1.5", "2", "0.25", *self.indices)

    def _element(self, _):
        return f"{self.array_name()}[{self.index()}]"

    def _binary(self, depth):
        return f"({self.scalar(depth)} {self.pick('+', '-', '*')} {self.scalar(depth)})"

    def _call(self, depth):
        form = self.pick(
            "math.sin({0})", "math.tanh({0})", "math.exp(-({0}) ** 2)", "abs({0})", "np.cos({0})",
            "blend({0})", "blend({0}, {1})", "blend({1}, n=3)", "total({b})", "{b}.sum()",
            "np.dot({b}, {c})",
        )  # fmt: skip
        return form.format(
            self.scalar(depth), self.scalar(depth), b=self.array_name(), c=self.array_name()
        )

    def _extremum(self, depth):
        return f"{self.pick('min', 'max')}({self.scalar(depth)}, {self.scalar(depth)})"

    def _power(self, depth):
        return f"math.tanh({self.scalar(depth)}) ** {self.pick('2', '3', '2.0')}"

    def _quotient(self, depth):
        return f"({self.scalar(depth)} / (2.0 + ({self.scalar(depth)}) ** 2))"

    def index(self):
        return self.pick("0", "1", "-1", *self.indices)

    def array_name(self):
        return self.pick(*self.arrays)

    def condition(self):
        return f"{self.scalar(1)} {self.pick('<', '>=')} {self.pick('0.3', '-0.2', 'y')}"

    def array(self):
        form = self.pick(
            "np.zeros(4)", "np.ones(4)", "{b}.copy()", "{b} * {0}", "{b} + {c}", "np.sin({b})",
            "shifted({b}, {0})", "np.zeros_like({b})", "np.full(4, {0})", "np.zeros((2, 4))[1]",
            "{b}", "{b}[::-1]", "back({b})", "either({b}, {c}, {0})", "{b}.reshape(2, 2).ravel()",
        )  # fmt: skip
        return form.format(self.scalar(1), b=self.array_name(), c=self.array_name())

    # -- statements --------------------------------------------------------------------------

    def block(self, depth, count, nesting):
        for _ in range(count):
            kinds = ["assign", "augment", "store", "store", "change", "update"]
            if depth == 1:
                kinds += ["allocate", "allocate", "swap"]
            if nesting:
                kinds += ["loop", "loop", "branch"]
            getattr(self, "_" + self.pick(*kinds))(depth, nesting)

    def _assign(self, depth, _):
        if depth == 1:
            value = self.scalar()
            self.scalars.append(f"s{len(self.scalars)}")
            self.line(depth, f"{self.scalars[-1]} = {value}")
        else:
            self.line(depth, f"{self.pick(*self.scalars)} = {self.scalar()}")

    def _augment(self, depth, _):
        self.line(depth, f"{self.pick(*self.scalars)} {self.pick('+=', '-=')} {self.scalar()}")

    def _store(self, depth, _):
        target = f"{self.array_name()}[{self.index()}]"
        self.line(depth, f"{target} {self.pick('=', '=', '+=')} {self.scalar()}")

    def _change(self, depth, _):
        form = self.pick(
            "put({b}, {i}, {0})", "{b}[:2] = {c}[2:].copy()", "{b}[1:3] = {0}", "{b}[:] = {c} * 0.5",
            "{b}.fill({0})", "put(back({b}), {i}, {0})",
        )  # fmt: skip
        self.line(
            depth,
            form.format(self.scalar(1), b=self.array_name(), c=self.array_name(), i=self.index()),
        )

    def _update(self, depth, _):
        operand = self.pick(self.scalar(1), f"np.tanh({self.array_name()})")
        self.line(depth, f"{self.array_name()} {self.pick('+=', '*=', '-=')} {operand}")

    def _allocate(self, depth, _):
        value = self.array()
        self.arrays.append(f"b{len(self.arrays)}")
        self.line(depth, f"{self.arrays[-1]} = {value}")

    def _swap(self, depth, _):
        b, c = self.array_name(), self.array_name()
        self.line(depth, f"{b}, {c} = {c}, {b}")

    def _loop(self, depth, nesting):
        name = f"i{depth}"
        self.line(depth, f"for {name} in range({self.pick('2', '3', '4')}):")
        self.indices.append(name)
        self.block(depth + 1, self.draw(st.integers(1, 3)), nesting - 1)
        if self.pick(False, False, True):
            self.line(depth + 1, f"if {self.condition()}:")
            self.line(depth + 2, self.pick("break", "continue"))
            self.block(depth + 1, 1, 0)
        self.indices.pop()

    def _branch(self, depth, nesting):
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, self.draw(st.integers(1, 2)), nesting - 1)
        if self.pick(True, False):
            self.line(depth, "else:")
            self.block(depth + 1, 1, nesting - 1)


@st.composite
def programs(draw):
    return Writer(draw).write()


def is_tame(f, args):
    """Whether rounding cannot be felt in the result, nor decide about a branch."""
    with mp.workprec(100):
        exact = flat(exactly(f)(*map(to_exact, args)))
    try:
        found = flat(njit(f)(*args))
    except TypingError:  # a view that Numba does not take
        return False
    return all(abs(e) < 1e6 and abs(v - e) < 1e-9 for v, e in zip(found, exact, strict=True))


# Its Jacobian had no axis for the integer array.
RETURNS_INTEGERS = """
def program(x, y, a):
    x += x
    for i1 in range(2):
        x += x
        if x < 0.3:
            x += x
            x += (x + x)
        else:
            x = (x + x)
        x += (math.tanh(y)/(2.0+(math.sin(0.5))**2))
        if math.tanh(0.25)**3 < -0.2:
            break
    a.fill((1-2))
    b1 = np.ones(4)
    for i1 in range(4):
        put(back(b1), -1, np.dot(a, b1))
        x -= x
        if b1[0] >= -0.2:
            break
    y = b1[-1]
    b2 = np.full(4, abs(1))
    if (x-x) < y:
        if math.tanh(x)**2 < y:
            b1[-1] = max(math.sin(y), math.tanh(x)**2.0)
        else:
            put(back(b2), 0, 2)
        a[0] = (y-x)
    else:
        for i2 in range(2):
            y += math.tanh(x)**2.0
    return x, y, b1, b2
"""


ARGUMENTS = 0.713, -0.417, np.array([0.531, -1.274, 0.757, 1.523])


def defined(source):
    return define(source, {"math": math, "np": np, **HELPERS})


@pytest.mark.filterwarnings("ignore:np.dot.* is faster on contiguous arrays")
@pytest.mark.dear
def test_a_program_that_returns_integers():
    check(defined(RETURNS_INTEGERS), *ARGUMENTS, rtol=1e-9, chunk=2)


@pytest.mark.filterwarnings("ignore:np.dot.* is faster on contiguous arrays")
@pytest.mark.parametrize("part", SHARES)
def test_random_programs(part):
    @seed(PARTS * SEED + part)
    @settings(
        max_examples=-(-COUNT // PARTS),
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(source=programs(), how=st.sampled_from([{}, {}, {"chunk": 2}, {"second": True}]))
    def run(source, how):
        note(source)
        f = defined(source)
        assume(is_tame(f, copy.deepcopy(ARGUMENTS)))
        check(f, *ARGUMENTS, rtol=1e-9, **how)

    run()

"""Writes random functions that kernels can run: numbers, loops, branches, calls, tuples, arrays by index.

`program(seed)` takes two floats, an array of four that it may write to, and an int, and returns a float.
"""

import math
import random

import numpy as np
from numba import njit

from numbad.source import define


@njit
def blend(x, y):
    if x > y:
        return x * y + math.sin(x) / 2.0
    return math.exp(-x) - 0.5 * y


@njit
def repeated(x, n):
    s = 1.0
    for _ in range(n):
        s = 0.7 * s * x + 0.2
    return s


@njit
def exchanged(pair):
    a, b = pair
    return b * 0.9, a + 0.1 * b


_FORMS = (
    "{0} + {1}", "{0} - 0.5 * {1}", "{0} * {1}", "{0} / (1.5 + {1} * {1})", "math.sin({0})", "math.tanh({0})",
    "math.exp(-{0} * {0})", "math.sqrt(1.0 + {0} * {0})", "max({0}, {1})", "min({0}, 2.0 * {1})", "-{0}",
    "math.atan2({0}, 2.0 + {1} * {1})", "blend({0}, {1})", "repeated({0}, k)", "({0} if {1} > 0.3 else {1})",
    "math.log(2.0 + {0} * {0})", "{0} ** 2", "math.cos({0}) * i", "a[(i + 1) % 4] * {0}",
)  # fmt: skip


class _Writer:
    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.names, self.lines, self.budget = ["x", "y"], [], 6
        self.serial = 0

    def number(self):
        form = self.pick.choice(_FORMS)
        return form.format(*(self.pick.choice([*self.names, "a[i % 4]"]) for _ in range(2)))

    def statement(self, indent, depth):
        self.budget -= 1
        kind = self.pick.choice(
            ("assign", "assign", "update", "for", "while", "if", "store", "swap")
        )
        if depth == 2 and kind in ("for", "while", "if"):
            kind = "update"
        getattr(self, f"_{kind}")(indent, depth)

    def put(self, indent, line):
        self.lines.append("    " * indent + line)

    def _assign(self, indent, depth):
        name = f"v{len(self.names)}"
        if indent > 1:
            name = self.pick.choice(self.names)
        self.put(indent, f"{name} = {self.number()}")
        if name not in self.names:
            self.names.append(name)

    def _update(self, indent, depth):
        self.put(
            indent,
            f"{self.pick.choice(self.names)} {self.pick.choice(['+', '-'])}= {self.number()}",
        )

    def _store(self, indent, depth):
        self.put(
            indent,
            f"a[{self.pick.choice(['i % 4', '0', '-1', 'k - 2'])}] = 0.5 * ({self.number()})",
        )

    def _swap(self, indent, depth):
        first, second = self.pick.choice(self.names), self.pick.choice(self.names)
        if first != second:
            self.put(indent, f"{first}, {second} = exchanged(({first}, {second}))")
        else:
            self._update(indent, depth)

    def _body(self, indent, depth):
        for _ in range(self.pick.randint(1, 3)):
            self.statement(indent, depth + 1)

    def _for(self, indent, depth):
        self.put(indent, f"for i in range({self.pick.choice(['3', '1, k', 'k', '2, -1, -1'])}):")
        self._body(indent + 1, depth)
        if self.pick.random() < 0.3:
            self.put(indent + 1, f"if {self.pick.choice(self.names)} > 0.9:")
            self.put(indent + 2, self.pick.choice(["break", "continue"]))

    def _while(self, indent, depth):
        self.serial += 1
        name = f"n{self.serial}"
        self.put(indent, f"{name} = 0")
        self.put(indent, f"while {name} < 4 and abs({self.pick.choice(self.names)}) < 3.0:")
        self.put(indent + 1, f"{name} += 1")
        self._body(indent + 1, depth)

    def _if(self, indent, depth):
        self.put(indent, f"if {self.pick.choice(self.names)} > {self.number()}:")
        self._body(indent + 1, depth)
        if self.pick.random() < 0.6:
            self.put(indent, "else:")
            self._body(indent + 1, depth)


def program(seed):
    """A random Python function `(x, y, a, k)`, and its source."""
    writer = _Writer(seed)
    while writer.budget > 0:
        writer.statement(1, 0)
    weights = " + ".join(f"{0.3 + 0.2 * k:.1f} * {name}" for k, name in enumerate(writer.names))
    sums = " + ".join(f"{0.4 - 0.1 * k:.1f} * a[{k}]" for k in range(4))
    lines = [
        "def program(x, y, a, k):",
        "    i = 1",
        *writer.lines,
        f"    return {weights} + {sums}",
    ]
    source = "\n".join(lines) + "\n"
    names = {"math": math, "np": np, "blend": blend, "repeated": repeated, "exchanged": exchanged}
    return define(source, names), source

"""Random programs: no number changes with an argument that the pattern does not name.

The programs are run by Python at random points and beside them; a pattern that a person would write down
for one side of a branch fails here at the other.
"""

import random

import numpy as np
import pytest
from numba import njit

import numbad as nd
from numbad.source import define

N = 5
PROGRAMS = 40
POINTS = 12


class Writer:
    """Writes a function of an array `x`, which fills and returns the array `y`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.loops = [], 0

    def one(self, *choices):
        return self.random.choice(choices)

    def index(self):
        known = [f"{k}" for k in range(N)]
        if self.loops:
            known += ["i", "i - 1", "N - 1 - i"] * 2
        return self.one(*known, "where[1]", "int(abs(x[2]) * 3.0) % N")

    def value(self):
        a, b = (f"{self.one('x', 'y', 'z')}[{self.index()}]" for _ in range(2))
        return self.one(a, f"{a} * {b}", f"{a} + 0.5 * {b}", f"np.sin({a}) - s", f"s * {b}", "1.5")

    def condition(self):
        known = self.one("k > 1", "N % 2 == 0")
        return self.one(f"{self.value()} > {self.value()}", f"{self.value()} > 0.2", known)

    def statement(self, depth):
        self.lines.append(f"{'    ' * depth}{self.plain()}")

    def plain(self):
        i = self.index()
        return self.one(
            f"y[{i}] = {self.value()}",
            f"y[{i}] += {self.value()}",
            f"z[{i}] = {self.value()}",
            f"s = {self.value()}",
            "z[1:] = y[:-1]",
            "y[::2] += z[::2] * s",
            "k += 1",
        )

    def block(self, depth):
        pad = "    " * depth
        kind = self.one("plain", "plain", "if", "for", "while") if depth < 4 else "plain"
        if kind == "plain" or (kind == "for" and self.loops):
            self.statement(depth)
        elif kind == "if":
            self.lines.append(f"{pad}if {self.condition()}:")
            self.some(depth + 1)
            self.lines.append(f"{pad}else:")
            self.some(depth + 1)
        elif kind == "for":
            self.lines.append(
                f"{pad}for i in range({self.one('N', '1, N', 'min(k, N)', 'N - 1, -1, -1')}):"
            )
            self.loops += 1
            self.some(depth + 1)
            if self.one(True, False):
                self.lines.append(f"{pad}    if {self.condition()}:")
                self.lines.append(f"{pad}        {self.one('break', 'continue')}")
                self.statement(depth + 1)
            self.loops -= 1
        else:
            w = f"w{len(self.lines)}"
            self.lines.append(f"{pad}{w} = 0")
            self.lines.append(f"{pad}while {w} < 3 and {self.condition()}:")
            self.lines.append(f"{pad}    {w} += 1")
            self.some(depth + 1)

    def some(self, depth):
        for _ in range(self.random.randint(1, 2)):
            self.block(depth)

    def write(self):
        while len(self.lines) < 9:
            self.block(1)
        head = "def program(x, where):\n    y, z = np.zeros(N), x.copy()\n    s, k = x[0], 1\n"
        return head + "\n".join(self.lines) + "\n    return y\n"


def changes(f, rng):
    """Which numbers of the result change with which of the argument, at some points."""
    where = np.array([2, 4])
    seen = np.zeros((N, N), bool)
    for _ in range(POINTS):
        x = rng.normal(size=N)
        y = f(x, where)
        for j in range(N):
            h = np.zeros(N)
            h[j] = 1e-7
            slope = (f(x + h, where) - f(x - h, where)) / 2e-7
            near = np.abs(f(x + h, where) - y).max() < 1e-4  # the same branches
            seen[:, j] |= near & (np.abs(slope) > 1e-5)
    return seen


@pytest.mark.deep(but=["0"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(4))
def test_what_changes_is_in_the_pattern(part):
    held, entries = 0, 0
    for seed in range(part, PROGRAMS, 4):
        source = Writer(seed).write()
        f = define(source, {"np": np, "N": N})
        pattern = nd.sparsity(njit(f))(np.ones(N), np.array([2, 4])).toarray()
        seen = changes(f, np.random.default_rng(seed))
        assert not (seen & ~pattern).any(), f"{source}\n{pattern.astype(int)}\n{seen.astype(int)}"
        held, entries = held + seen.sum(), entries + pattern.sum()
    assert held > 0.4 * entries  # the patterns are not just full

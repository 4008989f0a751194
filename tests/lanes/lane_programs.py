"""Writes random functions of one element of a batch, most of which lanes can go through together.

A function takes two numbers and an array that differ from element to element, and an array that all
elements share; all arrays have `SIZE` elements on each axis. It keeps what it computes in arrays of its
own, reads and writes them in branches that elements take differently, and returns a sum of them.
"""

import random

import numba

SIZE = 3
_NUMBERS = "x", "y", "s", "r"
_ARRAYS = "a", "p", "u", "v"
_MADE = (
    "np.zeros(3)", "np.ones(3)", "np.full(3, 0.5)", "np.zeros_like(p)", "np.zeros(p.shape[0])",
    "p * {0}", "a + p", "np.array([{0}, {1}, {2}])", "a.copy()", "np.exp(-a * a)",
)  # fmt: skip
_CONDITIONS = (
    "{0} > {1}", "{0} <= 0.25", "{0} > 0.0 and {1} < 0.5", "-0.5 < {0} or {1} > {0}", "not {0} < {1}",
)  # fmt: skip
_EXPRESSIONS = (
    "{0} + {1}", "{0} - {1}", "{0} * {1}", "-{0}", "{0} / (1.0 + {1} * {1})", "math.sin({0})",
    "math.exp(-abs({0}))", "math.sqrt(0.5 + {0} * {0})", "max({0}, {1})", "min({0}, 0.5, {1})", "abs({0})",
    "softened({0})", "math.log(abs({0}) + 0.1)", "{0} * 0.75", "({0} if {1} > {0} else {2})",
)  # fmt: skip
_SUMS = "{u}.sum()", "dot({u}, p)", "w[1].sum()"
_STORES = (
    "{u}[{i}] = {0}", "{u}[{i}] += {0}", "{u}[{i}] *= {0}", "w[{i}, {j}] = {0}", "w[{i}, {j}] -= {0}",
    "s = {0}", "r += {0}", "s -= {0} * r",
)  # fmt: skip
_OF_WHOLE = (
    "u, v = v, u", "{u}[:] = {0}", "{u}[1:] = p[:-1]", "{u} *= 0.5", "{u} += a", "pour({u}, {0})",
    "row = w[{i}]", "w[{i}] = {u}", "{u}.fill({0})", "u = v.copy()", "w[:, {i}] += {u}", "u = made({0}, p)",
)  # fmt: skip


@numba.njit
def softened(x):
    if abs(x) > 0.5:
        return abs(x) - 0.25
    return x * x


@numba.njit
def pour(into, x):
    for i in range(into.size):
        into[i] += x * (i + 1)


@numba.njit
def made(x, p):
    out = p.copy()
    if x > 0.0:
        out[1] = x
    return out


@numba.njit
def dot(u, p):
    total = 0.0
    for i in range(u.size):
        total += u[i] * p[i]
    return total


class _Writer:
    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.lines, self.indices, self.serial = [], [], 0
        self.loops = 0  # around this place

    def index(self):
        return self.draw.choice([*map(str, range(SIZE)), *self.indices * 2])

    def number(self):
        kind = self.draw.random()
        if kind < 0.4:
            return self.draw.choice(_NUMBERS)
        if kind < 0.7:
            return f"{self.draw.choice(_ARRAYS)}[{self.index()}]"
        return (
            f"w[{self.index()}, {self.index()}]"
            if kind < 0.8
            else f"{self.draw.uniform(-1, 1):.2f}"
        )

    def fill(self, templates, nested=True):
        template = self.draw.choice(templates)
        given = [self.expression() if nested else self.number() for _ in range(3)]
        names = {"u": self.draw.choice(["u", "v"]), "i": self.index(), "j": self.index()}
        return template.format(*given, **names)

    def expression(self):
        return f"({self.fill(_EXPRESSIONS + _SUMS, nested=False)})"

    def block(self, depth, statements, within):
        for _ in range(statements):
            self.statement(depth, within)

    def statement(self, depth, within):
        kind, pad = self.draw.random(), "    " * depth
        if kind < 0.25 and depth < 4:
            self.lines.append(f"{pad}if {self.fill(_CONDITIONS, nested=False)}:")
            self.block(depth + 1, self.draw.randint(1, 2), within=True)
            if self.draw.random() < 0.4:
                self.lines.append(f"{pad}else:")
                self.block(depth + 1, 1, within=True)
        elif kind < 0.3 and self.loops:
            self.lines.append(f"{pad}if {self.fill(_CONDITIONS, nested=False)}:")
            if self.draw.random() < 0.3:
                self.block(depth + 1, 1, within=True)
            self.lines.append(f"{pad}    {self.draw.choice(['break', 'continue'])}")
        elif kind < 0.35 and depth < 3:
            self.serial += 1
            self.lines.append(f"{pad}t{self.serial} = {self.expression()}")
            self.lines.append(f"{pad}while 0.4 < abs(t{self.serial}) < 50.0:")
            self.lines.append(f"{pad}    t{self.serial} *= 0.7")
            self.loops += 1
            self.block(depth + 1, self.draw.randint(1, 2), within)
            self.loops -= 1
        elif kind < 0.5 and depth < 3:
            self.serial += 1
            name = f"i{self.serial}"
            self.lines.append(
                f"{pad}for {name} in range({self.draw.choice(['3', 'p.size', '1, 3'])}):"
            )
            self.indices.append(name)
            self.loops += 1
            self.block(depth + 1, self.draw.randint(1, 3), within)
            self.loops -= 1
            self.indices.pop()
        elif kind < 0.6 and not within:
            self.lines.append(pad + self.fill(_OF_WHOLE))
        else:
            self.lines.append(pad + self.fill(_STORES))

    def write(self):
        for name in "uv":
            self.lines.append(f"    {name} = {self.draw.choice(_MADE).format('x', 'y', 'p[0]')}")
        self.block(1, 6, within=False)
        before = "    s, r = x * y, 0.5\n    w = np.zeros((3, 3))\n"
        total = "s + r + u.sum() + 2.0 * v[1] - w[0, 1] * w[2, 0] + w[1].sum()"
        body = "\n".join(self.lines)
        return f"def program(x, y, a, p):\n{before}{body}\n    return {total}\n"


def lane_program(seed):
    """The source of a function."""
    return _Writer(seed).write()

"""Writes random programs of whole-array statements: expressions, products, reductions, slices assigned.

A program takes what those of `tests.reverse.programs` take, and returns a weighted sum of all that it
computed. Arrays have shapes that the writer knows, so that what broadcasts or multiplies fits.
"""

import random
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from hypothesis import strategies as st
from numba import njit

from tests.reverse import three_way
from tests.reverse.programs import HEADER, Source

UNARY = (
    "np.sin({0})", "-{0}", "np.tanh({0})", "np.exp(-({0} ** 2))", "np.sqrt(1.0 + {0} * {0})", "{0} ** 2",
    "np.arctan({0})", "np.square({0})", "np.abs({0})", "np.log1p({0} * {0})", "np.cos({0})", "0.5 * {0}",
    "{0} / 1.7", "(1.3 - {0})", "np.negative({0})", "np.reciprocal(1.5 + {0} ** 2)",
    "np.exp(np.sin({0}))", "np.copy({0})", "twice({0})",
)  # fmt: skip
BINARY = (
    "({0} + {1})", "({0} - {1})", "({0} * {1})", "{0} / (1.2 + {1} * {1})", "np.maximum({0}, {1})",
    "np.minimum({0}, {1})", "np.hypot({0}, 1.0 + {1} ** 2)", "np.arctan2({0}, 1.5 + {1} ** 2)",
    "np.add({0}, {1})", "np.multiply({0}, {1})", "(1.5 + np.sin({0})) ** np.tanh({1})",
)  # fmt: skip
SAME = ("np.where({0} > {1}, {0}, 0.5 * {1})", "np.where({0} < 0.2, {1}, {0})", "mixed({0}, {1})")
VECTORS = (
    "{v}[::-1]", "np.roll({v}, 1)", "np.cumsum({v})", "np.sort({v})", "np.flip({v})", "{v}.copy()",
    "np.cumprod(np.tanh({v}))", "{v}.cumsum()", "{v}[:]", "np.ascontiguousarray({v}[::-1])",
)  # fmt: skip
LONGER = ("{v}[1:]", "{v}[:-1]", "{v}[-1:0:-1]", "np.diff({v})")  # one element less
TO_NUMBER = (
    "{b}.sum()", "np.sum({b})", "{b}.mean()", "np.mean({b})", "np.prod(np.tanh({b}))", "{b}.max()",
    "np.min({b})", "np.var({b})", "np.sqrt(0.1 + np.var({b}))", "np.amax({b})", "np.exp(-({b} ** 2)).sum()",
    "np.sum({b} * {b})",
)  # fmt: skip
AUGMENTED = "+=", "-=", "*="
LEAST = 5


@njit
def twice(b):
    return b + np.sin(b)


@njit
def mixed(b, c):
    return np.where(b > c, 0.5 * b, c * c)


@njit
def bump(b, s):
    b *= 0.5
    b[:1] += s


@njit
def halved(b):
    b *= 0.5
    return b


NAMES = {f.py_func.__name__: f for f in (twice, mixed, bump, halved)}
GIVEN = replace(three_way.PLAIN, names=three_way.PLAIN.names | NAMES)
"""What the programs are called with."""


@dataclass(frozen=True)
class Variable:
    """An array of floats: its name, its shape, and whether its elements lie one after another."""

    name: str
    shape: tuple
    plain: bool = True


class ArrayWriter:
    """Writes one program; `choose(n)` is a number below n, zero for the simplest choice."""

    def __init__(self, choose, budget):
        self.choose, self.budget = choose, budget
        self.numbers = ["x", "y", "p.u"]
        self.arrays = [Variable("a", (4,)), Variable("m", (2, 3))]
        self.lines, self.serial, self.used = [], 0, set()

    def write(self):
        while self.budget > 0:
            self.statement(1, nesting=2)
        text = HEADER + "\n".join(self.lines) + f"\n    return {self.everything()}\n"
        return Source(text, frozenset(self.used))

    def everything(self):
        terms = [f"{name} * {0.5 + 0.25 * j}" for j, name in enumerate(self.numbers[-5:])]
        last = self.arrays[:2] + self.arrays[2:][-4:]
        return " + ".join([*terms, *(f"weigh{'2' * (len(b.shape) - 1)}({b.name})" for b in last)])

    def pick(self, *options):
        return options[self.choose(len(options))]

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    # -- expressions -------------------------------------------------------------------------

    def number(self, depth=2):
        if depth == 0 or self.choose(3) == 0:
            return self.pick(*self.numbers, "0.7")
        kind = self.choose(4)
        if kind == 0:
            return self.pick(*TO_NUMBER).format(b=self.pick(*self.arrays).name)
        if kind == 1:
            return self._dotted(depth)
        if kind == 2:
            return self._element()
        return self.pick("math.sin({0})", "{0} * {1}", "math.tanh({0} + {1})").format(
            self.number(depth - 1), self.number(depth - 1)
        )

    def _dotted(self, depth):
        v = self.pick(*(b for b in self.arrays if len(b.shape) == 1))
        w = self.array(v.shape, depth - 1)
        return self.pick("np.dot({0}, {1})", "({0} @ {1})", "np.vdot({0}, {1})").format(v.name, w)

    def _element(self):
        b = self.pick(*self.arrays)
        return f"{b.name}[{', '.join(str(self.choose(2 * n) - n) for n in b.shape)}]"

    def named(self, shape):
        """The names of the variables of a shape."""
        return [b.name for b in self.arrays if b.shape == shape]

    def array(self, shape, depth=2):
        """An expression for an array of a shape."""
        names = self.named(shape)
        if names and (depth <= 0 or self.choose(4) == 0):
            return self.pick(*names)
        if depth <= 0:
            return f"np.full({shape}, {self.pick(*self.numbers)})"
        kind = self.choose(6)
        if kind == 0:
            return self.pick(*UNARY).format(self.array(shape, depth - 1))
        if kind == 1:
            way = self.choose(3)
            other = self.number(1) if way == 0 else self.narrow(shape, depth)
            other = self.array(shape, depth - 1) if way == 1 else other
            return self.pick(*BINARY).format(self.array(shape, depth - 1), other)
        if kind == 2:
            return self.pick(*SAME).format(*(self.array(shape, depth - 1) for _ in range(2)))
        made = self.vector(shape[0], depth) if len(shape) == 1 else self.matrix(shape, depth)
        self.used.add(made.split("(")[0] if made.startswith("np.") else "made")
        return made

    def narrow(self, shape, depth):
        """An array that broadcasts to a shape."""
        if len(shape) == 1:
            return f"({self.array(shape, depth - 1)})[:1]"
        rows, columns = shape
        kind = self.choose(3)
        if kind == 0:
            return self.array((columns,), depth - 1)
        if kind == 1:
            return f"np.expand_dims({self.array((rows,), depth - 1)}, 1)"
        return f"np.copy({self.array(shape, depth - 1)})[{self.pick(':, :1', ':1')}]"

    def vector(self, n, depth):
        """A vector of `n` numbers, made of other arrays."""

        def one(size):
            return self.array((size,), depth - 1)

        choices = [
            lambda: self.pick(*VECTORS).format(v=f"np.copy({one(n)})"),
            lambda: f"np.array([{', '.join(self.number(1) for _ in range(n))}])",
            lambda: f"np.append({one(n)}, {self.number(1)})[1:]",
        ]
        if n > 1:
            choices.append(lambda: f"np.concatenate(({one(n - 1)}, {one(1)}))")
        if n % 2 == 0:
            choices.append(lambda: f"np.repeat({one(n // 2)}, 2)")
            choices.append(lambda: f"np.hstack(({one(n // 2)}, {one(n // 2)}))")
        for b in self.arrays:
            if b.shape == (n + 1,):
                choices.append(lambda b=b: self.pick(*LONGER).format(v=b.name))
            if len(b.shape) == 2:
                choices += self._of_matrix(b, n, one)
        return self.pick(*choices)()

    def _of_matrix(self, b, n, one):
        r, c = b.shape
        name = b.name
        if c == n:
            yield lambda: self.pick(f"{name}[{self.choose(r)}]", f"{name}.sum(0)")
            yield lambda: f"np.sum({name}, axis=0)"
            yield lambda: self.pick("({v} @ {b})", "np.dot({v}, {b})").format(v=one(r), b=name)
        if r == n:
            yield lambda: self.pick(f"{name}[:, {self.choose(c)}]", f"np.sum({name}, 1)")
            yield lambda: self.pick("({b} @ {v})", "{b}.dot({v})").format(v=one(c), b=name)
        if r * c == n:
            yield lambda: self.pick(f"{name}.ravel()", f"{name}.T.flatten()")

    def matrix(self, shape, depth):
        """A matrix made of other arrays."""
        r, c = shape

        def one(*shape):
            return self.array(shape, depth - 1)

        k = self.pick(2, 3)
        choices = [
            lambda: f"np.outer({one(r)}, {one(c)})",
            lambda: f"({one(r, k)} @ {one(k, c)})",
            lambda: f"np.dot({one(r, k)}, {one(k, c)})",
            lambda: f"np.copy({one(c, r)}).T",
            lambda: f"np.copy({one(*shape)})[{self.pick('::-1', ':, ::-1')}]",
            lambda: f"np.vstack(({', '.join(one(c) for _ in range(r))},))",
            lambda: f"np.stack(({', '.join(one(r) for _ in range(c))},), 1)",
            lambda: f"np.broadcast_to({one(c)}, ({r}, {c})) * {self.number(1)}",
            lambda: f"np.transpose({one(c, r)})",
            lambda: f"np.asfortranarray({one(*shape)})",
        ]
        if r > 1:
            choices.append(lambda: f"np.concatenate(({one(1, c)}, {one(r - 1, c)}))")
        return self.pick(*choices)()

    # -- statements --------------------------------------------------------------------------

    def statement(self, depth, nesting):
        kinds = [
            "make",
            "make",
            "make",
            "number",
            "put",
            "part",
            "augment",
            "part_augment",
            "rebind",
        ]
        kinds += ["into", "view", "fill", "chosen", "pass_on"]
        if nesting:
            kinds += ["loop", "loop", "branch", "rows", "give_back"]
        kind = self.pick(*kinds)
        self.used.add(kind)
        self.budget -= 1
        getattr(self, "_write_" + kind)(depth, nesting)

    def block(self, depth, nesting):
        before = len(self.numbers), len(self.arrays)
        for _ in range(1 + self.choose(3)):
            self.statement(depth, nesting)
        del self.numbers[before[0] :], self.arrays[before[1] :]

    def _write_make(self, depth, _):
        shape = self.pick((4,), (2, 3), (3,), (2,), (3, 2), (2, 2), (3, 3), (1,))
        name, value = self.fresh("b"), self.array(shape)
        self.line(
            depth, f"{name} = {value} + 0.0" if self.choose(2) else f"{name} = np.copy({value})"
        )
        self.arrays.append(Variable(name, shape))

    def _write_number(self, depth, _):
        if self.choose(3) == 0 and depth > 1:
            target = self.pick("x", "y")
            self.line(depth, f"{target} = 0.5 * {target} + math.tanh({self.number()})")
            return
        name, value = self.fresh("s"), self.number()
        self.line(depth, f"{name} = 1.0 * {value}")
        self.numbers.append(name)

    def _any(self):
        return self.pick(*self.arrays)

    def _write_put(self, depth, _):
        b = self._any()
        self.line(depth, f"{b.name}{self.pick('[:]', '[...]')} = {self.array(b.shape)}")

    def _places(self, b):
        """Parts of an array: how they are written, and their shape."""
        n = b.shape[0]
        if len(b.shape) == 1:
            found = [("[::-1]", (n,)), (f"[{self.choose(2 * n) - n}]", ())]
            if n > 1:
                found += [("[1:]", (n - 1,)), ("[:-1]", (n - 1,)), ("[:1]", (1,)), ("[-2:]", (2,))]
            return found
        c = b.shape[1]
        found = [(f"[{self.choose(n)}]", (c,)), (f"[:, {self.choose(c)}]", (n,))]
        found += [("[:, ::-1]", b.shape), ("[1:, 0]", (n - 1,)), (f"[{self.choose(n)}, 0]", ())]
        return [(text, shape) for text, shape in found if 0 not in shape]

    def _write_part(self, depth, _):
        b = self._any()
        place, shape = self.pick(*self._places(b))
        value = (
            self.number() if not shape or self.choose(3) == 0 else f"np.copy({self.array(shape)})"
        )
        self.line(depth, f"{b.name}{place} = {value}")

    def _write_augment(self, depth, _):
        b = self._any()
        other = self.pick(self.array(b.shape), self.number(), self.narrow(b.shape, 1))
        self.line(depth, f"{b.name} {self.pick(*AUGMENTED)} {other}")

    def _write_part_augment(self, depth, _):
        """The operands of what is written to may be of the same array, and overlap with it."""
        b = self._any()
        place, shape = self.pick(*self._places(b))
        value = self.number()
        if shape and self.choose(3):
            value = f"np.tanh({self.array(shape)})"
        self.line(depth, f"{b.name}{place} {self.pick(*AUGMENTED)} {value}")

    def _write_rebind(self, depth, _):
        """A variable set to a new array, or to one that another variable has."""
        b = self.pick(*(b for b in self.arrays if b.plain))
        others = [c.name for c in self.arrays if c.shape == b.shape and c.plain]
        self.line(depth, f"{b.name} = {self.pick(f'np.copy({self.array(b.shape)})', *others)}")

    def _write_into(self, depth, _):
        """`out=` by position; the operands share no memory with it."""
        b = self._any()
        first, second = (f"np.copy({self.array(b.shape, 1)})" for _ in range(2))
        self.line(
            depth,
            self.pick(
                f"np.multiply({first}, {second}, {b.name})",
                f"np.sin({first}, {b.name})",
                f"np.subtract({first}, {self.number(1)}, {b.name})",
                f"np.tanh({b.name}, {b.name})",
                f"np.add({b.name}, {second}, {b.name})",
            ),
        )

    def _write_view(self, depth, _):
        """A variable that shows a part of another."""
        b = self._any()
        place, shape = self.pick(*(p for p in self._places(b) if p[1]))
        name = self.fresh("v")
        self.line(depth, f"{name} = {b.name}{place}")
        self.arrays.append(Variable(name, shape, False))

    def _write_fill(self, depth, _):
        self.line(depth, f"{self._any().name}.fill({self.number()})")

    def _write_chosen(self, depth, _):
        b = self.pick(*(b for b in self.arrays if len(b.shape) == 1))
        index = self.pick("np.array([0, -1])", f"{b.name} > {self.number(1)}")
        operator = self.pick("=", "+=", "*=") if "array" in index else "="
        self.line(depth, f"{b.name}[{index}] {operator} {self.number()}")

    def _write_pass_on(self, depth, _):
        """A callee that writes to its argument, or returns it."""
        b = self._any()
        self.line(
            depth,
            self.pick(
                f"bump({b.name}, {self.number(1)})",
                f"bump({b.name}[:1], {self.number(1)})",
                f"halved({b.name})[:] += {self.number(1)}",
            ),
        )

    def _write_loop(self, depth, nesting):
        i = self.fresh("i")
        self.line(depth, f"for {i} in range({self.pick('2', '3', 'k', '1, 3')}):")
        self.block(depth + 1, nesting - 1)
        if self.choose(4) == 3:
            self.line(depth + 1, f"if {self.number(1)} > {self.number(1)}:")
            self.line(depth + 2, self.pick("break", "continue"))
            self.block(depth + 1, 0)

    def _write_rows(self, depth, nesting):
        """A loop over the rows of a matrix, each a view."""
        b = self.pick(*(b for b in self.arrays if len(b.shape) == 2))
        row = self.fresh("r")
        self.line(depth, f"for {row} in {b.name}:")
        self.arrays.append(Variable(row, b.shape[1:], False))
        self.block(depth + 1, nesting - 1)
        self.arrays.pop()

    def _write_branch(self, depth, nesting):
        self.line(depth, f"if {self.number(1)} > {self.number(1)}:")
        self.block(depth + 1, nesting - 1)
        if self.choose(2):
            self.line(depth, "else:")
            self.block(depth + 1, nesting - 1)

    def _write_give_back(self, depth, _):
        self.line(depth, f"if {self.number(1)} > 1.5 + {self.number(1)}:")
        self.line(depth + 1, f"return {self.number()} * 0.5")


_below = cache(lambda n: st.integers(0, n - 1))


@st.composite
def array_programs(draw):
    """Hypothesis's strategy for programs."""
    return ArrayWriter(lambda n: draw(_below(n)), draw(st.integers(LEAST, 2 * LEAST))).write()


def random_array_program(seed):
    """The program of a seed, without hypothesis."""
    source = random.Random(seed)
    return ArrayWriter(source.randrange, source.randint(LEAST, 2 * LEAST)).write()

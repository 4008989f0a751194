"""Writes random programs: Numba functions as source, over the language that reverse mode promises.

A program takes two floats, an array of one axis and one of two, an int and a namedtuple, and returns
a weighted sum of all that it computed. `programs()` is the hypothesis strategy, `random_program(seed)`
the same without hypothesis.
"""

import random
from dataclasses import dataclass
from functools import cache

from hypothesis import strategies as st

from tests.reverse.expressions import Array, Expressions

HEADER = "def program(x, y, a, m, k, p):\n"
RANGES = (
    ("2", 2), ("3", 3), ("4", 4), ("k", 5), ("1, 4", 4), ("0, 5, 2", 5), ("3, 0, -1", 4),
    ("2, -1, -1", 3), ("4, -2, -3", 9), ("0", 1), ("3, 1", 1), ("-2, 2", 9), ("k, 0, -2", 5),
)  # fmt: skip
CHANGES = (
    "put({b}, {i}, {0})", "put(back({b}), {i}, {0})", "scale({b}, {0})", "pour({b}, {c})",
    "scale({b}[1:], {0})", "{b}.fill({0})", "{b}[:] = {0}", "{b}[...] = {0}", "{b}[1:3] = {0}",
    "{b}[:] = {c}", "{b}[::-1] = {c}.copy()", "{b}[1:] = {b}[:-1]", "{b}[:2] = {c}[-2:]",
    "{b}[{b} > {0}] = {1}", "{b}[np.array([0, -1])] = {0}", "{b}[{i}] **= 2", "{b}[{i}] /= 2.5",
)  # fmt: skip
COMBINED = (
    "{t} + {s}", "-{t} * {s}", "{t} - {s} * {t}", "{t}.bent({0})", "({t} + {s}).bent({0}, c=2.0)",
    "({t} if {0} > {t}.size else -{s})",
)  # fmt: skip
LEAST = 4  # statements of a program, beside those within loops and branches


@dataclass(frozen=True)
class Source:
    """A program, and the names of what it has."""

    text: str
    used: frozenset

    def __str__(self):
        return self.text


class Writer(Expressions):
    """Writes one program."""

    def __init__(self, choose, budget):
        super().__init__(choose)
        self.budget = budget
        self.lines, self.serial = [], 0
        self.growing = True  # whether a list may be appended to here: not where one is iterated
        self.loops = 0  # around this place
        self.header = HEADER

    def write(self):
        while self.budget > 0:
            self.statement(1, nesting=2)
        return Source(
            self.header + "\n".join(self.lines) + f"\n    return {self.everything()}\n",
            frozenset(self.used),
        )

    def everything(self):
        """All that the program computed, weighted."""
        numbers = [*self.numbers[:2], *self.numbers[2:][-4:], *self.members[2:][-2:]]
        terms = [f"{name} * {0.5 + 0.25 * j}" for j, name in enumerate(numbers)]
        for b in [self.arrays[0], *self.arrays[1:][-3:]]:
            sums = "weigh({})", "weigh2({})", "weigh2({}[1])"
            terms.append(sums[len(b.shape) - 1].format(b.source))
        terms += [f"total({name})" for name in self.lists[-1:]]
        return " + ".join(terms)

    def line(self, depth, text):
        self.lines.append("    " * depth + text)

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    def block(self, depth, nesting, most=3):
        """Statements whose variables end with it."""
        kinds = self.scoped()
        before = [len(names) for names in kinds]
        for _ in range(1 + self.choose(most)):
            self.statement(depth, nesting)
        for names, count in zip(kinds, before, strict=True):
            del names[count:]

    def scoped(self):
        """The lists of variables, of which a block's own go with it."""
        kinds = self.numbers, self.integers, self.flags, self.arrays, self.members, self.lists
        return *kinds, self.functions

    def statement(self, depth, nesting):
        kind = self.pick(*self.statement_kinds(depth, nesting))
        self.used.add(kind)
        self.budget -= 1
        getattr(self, "_write_" + kind)(depth, nesting)

    def statement_kinds(self, depth, nesting):
        kinds = ["assign", "augment", "store", "store", "change", "update", "count", "handle"]
        kinds += ["allocate", "allocate", "swap", "flag", "record", "rebuild", "combine"]
        kinds += ["sequence", "grow"] * (depth < 3)
        if depth == 1:
            kinds += ["define", "optional", "fill", "buffers"]
        if nesting:
            kinds += ["loop", "loop", "loop", "while", "branch", "branch", "return"]
        return kinds

    # -- scalars -----------------------------------------------------------------------------

    def _write_assign(self, depth, _):
        value = self.number()
        if self.choose(2):
            self.line(depth, f"{self.pick(*self.numbers)} = {value}")
            return
        self.numbers.append(self.fresh("s"))
        self.line(depth, f"{self.numbers[-1]} = {value}")

    def _write_augment(self, depth, _):
        self.line(
            depth, f"{self.pick(*self.numbers)} {self.pick('+=', '-=', '*=')} {self.number()}"
        )

    def _write_count(self, depth, _):
        mine = [name for name, _ in self.integers if name[0] == "n"]
        if mine and self.choose(2):
            self.line(depth, f"{self.pick(*mine)} {self.pick('+=', '-=')} {self.integer()}")
            return
        value = self.integer()
        self.integers.append((self.fresh("n"), 99))
        self.line(depth, f"{self.integers[-1][0]} = {value}")

    def _write_flag(self, depth, _):
        value = self.condition()
        self.flags.append(self.fresh("f"))
        self.line(depth, f"{self.flags[-1]} = {value}")

    def _write_swap(self, depth, _):
        if self.choose(2):
            left, right = self.pick(*self.numbers), self.pick(*self.numbers)
            self.line(depth, f"{left}, {right} = {right}, {left} + {self.number(1)}")
            return
        b = self.variable()
        same = [c for c in self.variables() if (c.shape, c.plain) == (b.shape, b.plain)]
        c = self.pick(*same)
        self.line(depth, f"{b.source}, {c.source} = {c.source}, {b.source}")

    def _write_define(self, depth, _):
        """A closure over a variable that never changes."""
        captured, name = self.fresh("q"), self.fresh("g")
        self.line(depth, f"{captured} = {self.number()}")
        self.line(depth, f"def {name}(z, c=0.5):")
        body = self.pick("z * {q} + c", "math.sin({q}) - z * c", "z if z > {q} else {q} * z")
        self.line(depth + 1, f"return {body.format(q=captured)}")
        self.line(depth, f"{self.pick(*self.numbers)} = {name}({self.number(1)})")
        self.functions.append(name)

    def _write_optional(self, depth, nesting):
        name, result = self.fresh("o"), self.fresh("s")
        self.line(depth, f"{name} = None")
        self.line(depth, f"if {self.condition()}:")
        if self.choose(2):
            self._optional_array(depth, name, result)
        else:
            self.line(depth + 1, f"{name} = 1.0 * {self.number(1)}")
            self.line(depth, f"{result} = 0.0 if {name} is None else {name} * {self.number(1)}")
        self.numbers.append(result)

    def _optional_array(self, depth, name, result):
        """None, or an array that may be another name of one that there is."""
        b = self.vector()
        n = b.shape[0]
        self.line(depth + 1, f"{name} = {self.array_like(b).source}")
        self.line(depth, f"{result} = {self.number(1)}")
        self.line(depth, f"if {name} is not None:")
        change = f"{name}[{self.index(n)}] {self.pick('=', '+=', '*=')} {self.number(1)}"
        whole = f"{name}[1:] *= {self.number(1)}"
        self.line(depth + 1, self.pick(change, whole, f"{name} = {name} * {self.number(1)}"))
        read = f"{name}[{self.index(n)}]", f"{name}.sum()", f"weigh({name})", f"len({name}) * 0.5"
        self.line(depth + 1, f"{result} = {result} * {self.pick(*read)}")

    # -- arrays ------------------------------------------------------------------------------

    def variables(self):
        """The arrays that are variables, and can be set; the others are members of tuples."""
        return [b for b in self.arrays if b.source.isidentifier()]

    def variable(self, ndim=None):
        return self.pick(*(b for b in self.variables() if ndim in (None, len(b.shape))))

    def _write_store(self, depth, _):
        target = self.element(self.pick(*self.arrays))
        self.line(depth, f"{target} {self.pick('=', '=', '+=', '*=', '-=')} {self.number()}")

    def _write_change(self, depth, _):
        wide = [b for b in self.arrays if len(b.shape) == 2]
        if self.choose(4) == 0 and wide:
            self.line(depth, self._rows(self.pick(*wide)))
            return
        n = self.pick(*{v.shape[0]: v for v in self.arrays if v.shape[1:] == ()})
        names = [v.source for v in self.arrays if v.shape == (n,)]
        form = self.pick(*CHANGES)
        text = form.format(
            *(self.number(1) if f"{{{j}}}" in form else "" for j in range(2)),
            b=self.pick(*names), c=self.pick(*names), i=self.index(n) if "{i}" in form else "",
        )  # fmt: skip
        self.line(depth, text)

    def _rows(self, b):
        """A change of part of an array of two axes."""
        r, c = b.shape
        row, column = (Array("", (n,), False) for n in (c, r))
        return self.pick(
            f"{b.source}[{self.index(r)}] = {self.number(1)}",
            f"{b.source}[{self.index(r)}] = {self.array_like(row).source}",
            f"{b.source}[:, {self.index(c)}] = {self.array_like(column).source}",
            f"{b.source}[:, ::-1] = {self.number(1)}",
            f"{b.source}[1:, :-1] = {self.number(1)}",
            f"put({b.source}[{self.index(r)}], {self.index(c)}, {self.number(1)})",
        )

    def _write_update(self, depth, _):
        """One operation on every element, by a loop over the indices."""
        b, i = self.vector(), self.fresh("i")
        self.line(depth, f"for {i} in range(len({b.source})):")
        self.integers.append((i, b.shape[0]))
        self.line(depth + 1, f"{b.source}[{i}] {self.pick('=', '+=', '*=')} {self.number()}")
        self.integers.pop()

    def _write_handle(self, depth, _):
        """A variable set to another array."""
        b = self.variable()
        self.line(depth, f"{b.source} = {self.array_like(b).source}")

    def _write_allocate(self, depth, _):
        value = self.array()
        self.arrays.append(Array(self.fresh("b"), value.shape, value.plain))
        self.line(depth, f"{self.arrays[-1].source} = {value.source}")

    def _write_fill(self, depth, _):
        """An empty array, filled by a loop."""
        n, b, i = self.pick(3, 4), self.fresh("b"), self.fresh("i")
        self.line(depth, f"{b} = {self.pick(f'np.empty({n})', f'np.empty_like(a[:{n}])')}")
        self.line(depth, f"for {i} in range({n}):")
        self.integers.append((i, n))
        self.line(depth + 1, f"{b}[{i}] = {self.number()}")
        self.integers.pop()
        self.arrays.append(Array(b, (n,), False))

    def _write_buffers(self, depth, _):
        """Two buffers whose handles change places round a loop."""
        b = self.variable(1)
        other, i, j = self.fresh("b"), self.fresh("i"), self.fresh("i")
        self.line(depth, f"{other} = {self.pick('np.zeros_like', 'np.empty_like')}({b.source})")
        self.line(depth, f"for {i} in range({self.pick('2', '3')}):")
        self.line(depth + 1, f"for {j} in range(len({b.source})):")
        self.integers += [(i, 3), (j, b.shape[0])]
        value = f"{b.source}[{j} - 1] * 0.5 + {self.number(1)}"
        self.line(depth + 2, f"{other}[{j}] = {value}")
        del self.integers[-2:]
        self.arrays.append(Array(other, b.shape, False))
        self.line(depth + 1, f"{b.source}, {other} = {other}, {b.source}")

    # -- tuples and lists --------------------------------------------------------------------

    def _write_record(self, depth, _):
        """A tuple or namedtuple, read by its members or taken apart."""
        first, second, b = self.number(1), self.number(1), self.vector()
        name = self.fresh("t")
        kind = self.choose(4)
        if kind == 0:
            self.line(
                depth, f"{name} = (1.0 * {first}, {self.integer()}, {b.source}, 1.0 * {second})"
            )
            self.members += [f"{name}[0]", f"{name}[3]", f"{name}[2][1]"]
            self.arrays.append(Array(f"{name}[2]", b.shape, False))
        elif kind == 1:
            self.line(depth, f"{name} = Pair(1.0 * {first}, 1.0 * {second})")
            self.members += [f"{name}.u", f"{name}.w"]
        elif kind == 2:
            u, v = self.fresh("s"), self.fresh("s")
            self.line(depth, f"{u}, {v}, _ = both({first}, {second})")
            self.numbers += [u, v]
        else:
            self.line(depth, f"{name} = ((1.0 * {first}, {b.source}), 1.0 * {second})")
            self.members += [f"{name}[0][0]", f"{name}[1]", f"{name}[0][1][-1]"]

    def _write_rebuild(self, depth, _):
        """A namedtuple made of its own members."""
        names = [m[:-2] for m in self.members if m.endswith(".u")]
        t = self.pick(*names)
        self.line(depth, f"{t} = Pair({t}.w, {t}.u + {self.number(1)})")

    def _write_combine(self, depth, _):
        """Operators and methods of a namedtuple, as its class overloads them."""
        names = [m[:-2] for m in self.members if m.endswith(".u")]
        t, s, form = self.pick(*names), self.pick(*names), self.pick("{t} +=", *COMBINED)
        if form == "{t} +=":
            self.line(depth, f"{t} += {s}")
            return
        value = form.format(self.number(1) if "{0}" in form else "", t=t, s=s)
        self.line(depth, f"{t} = {value}")
        self.members.append(self.pick(f"({t} @ {s})", f"{t}.size"))

    def _write_sequence(self, depth, _):
        name, v = self.fresh("l"), self.vector().source
        form = self.pick(
            "[1.0 * {0}, 1.0 * {1}]", "[v * {0} for v in {v}]", "typed(x + {0}, y * {1})",
            "[1.0 * {0}] * 3", "[w * {1} for w in {v} if w > {0}] + [1.0, 1.0 * {0}]",
        )  # fmt: skip
        self.line(depth, f"{name} = {form.format(self.number(1), self.number(0), v=v)}")
        self.lists.append(name)

    def _write_grow(self, depth, nesting):
        if not self.lists:
            self._write_sequence(depth, nesting)
            return
        name = self.pick(*self.lists)
        changes = [f"{name}[{self.pick('0', '-1')}] = 1.0 * {self.number(1)}"]
        changes += [f"{name}[k % len({name})] += 1.0 * {self.number(1)}"]
        if self.growing:
            changes += [f"{name}.append(1.0 * {self.number(1)})"]
        self.line(depth, self.pick(*changes))

    # -- control flow ------------------------------------------------------------------------

    def _write_loop(self, depth, nesting):
        header, numbers, integers = self._header()
        growing, self.growing = self.growing, self.growing and "range" in header
        self.line(depth, header)
        self.numbers += numbers
        self.integers += integers
        self._body(depth, nesting)
        del self.numbers[len(self.numbers) - len(numbers) :]
        del self.integers[len(self.integers) - len(integers) :]
        self.growing = growing
        self._otherwise(depth)

    def _header(self):
        """A loop's first line; the floats and the ints, with bounds, that it sets."""
        b, c, i, v = self.vector(), self.vector(), self.fresh("i"), self.fresh("v")
        n, w = b.shape[0], self.fresh("v")
        wide = [array.source for array in self.arrays if len(array.shape) == 2]
        spread, bound = self.pick(*RANGES)
        return self.pick(
            (f"for {i} in range({spread}):", [], [(i, bound)]),
            (f"for {i} in range({spread}):", [], [(i, bound)]),
            (f"for {i} in range(len({b.source})):", [], [(i, n)]),
            (f"for {v} in {b.source}:", [v], []),
            (f"for {i}, {v} in enumerate({b.source}):", [v], [(i, n)]),
            (f"for {v}, {w} in zip({b.source}, {c.source}):", [v, w], []),
            (f"for {i} in range({n - 1}, -1, -1):", [], [(i, n)]),
            (f"for {v} in {b.source}[::-1]:", [v], []),
            (f"for {v} in (x, y, {self.pick(*self.members)}):", [v], []),
            (f"for {i}, {v} in enumerate((x, y)):", [v], [(i, 2)]),
            (f"for {i}, {v} in enumerate({b.source}, 1):", [v], []),
            *((f"for {v} in {name}:", [v], []) for name in self.lists),
            *((f"for (_, {i}), {v} in np.ndenumerate({name}):", [v], [(i, 9)]) for name in wide),
            (f"for {i} in np.ndindex(2, 3):", [f"m[{i}]"], []),
        )

    def _body(self, depth, nesting):
        self.loops += 1
        self.block(depth + 1, nesting - 1)
        if self.choose(3) == 2:
            kind = self.pick("break", "continue")
            self.used.add(kind)
            self.line(depth + 1, f"if {self.condition()}:")
            self.line(depth + 2, kind)
            self.block(depth + 1, 0, 1)
        self.loops -= 1

    def _otherwise(self, depth):
        """The loop's `else`, now and then."""
        if self.choose(6) == 5:
            self.used.add("loop else")
            self.line(depth, "else:")
            self.block(depth + 1, 0, 1)

    def _write_while(self, depth, nesting):
        name = self.fresh("j")
        growing, self.growing = self.growing, False
        self.line(depth, f"{name} = 0")
        test = self.pick(f"{name} < 3", f"{name} < 3 and {self.comparison()}", "True")
        self.line(depth, f"while {test}:")
        self.line(depth + 1, f"{name} += 1")
        self.integers.append((name, 5))
        if test == "True":
            self.line(depth + 1, f"if {name} > {self.pick('2', '3')} or {self.comparison()}:")
            self.line(depth + 2, "break")
        self._body(depth, nesting)
        self.growing = growing
        if test != "True":
            self._otherwise(depth)

    def _write_branch(self, depth, nesting):
        self.line(depth, f"if {self.condition()}:")
        self.block(depth + 1, nesting - 1, 2)
        if self.choose(3) == 2:
            self.used.add("elif")
            self.line(depth, f"elif {self.condition()}:")
            self.block(depth + 1, nesting - 1, 1)
        if self.choose(2):
            self.line(depth, "else:")
            self.block(depth + 1, nesting - 1, 2)

    def _write_return(self, depth, _):
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, f"return {self.number(1)} + {self.pick(*self.numbers)} * 0.5")


_below = cache(lambda n: st.integers(0, n - 1))


@st.composite
def programs(draw):
    """Hypothesis's strategy for programs."""
    return Writer(lambda n: draw(_below(n)), draw(st.integers(LEAST, 3 * LEAST))).write()


def random_program(seed):
    """The program of a seed, without hypothesis."""
    source = random.Random(seed)
    return Writer(source.randrange, source.randint(LEAST, 3 * LEAST)).write()

"""Writes random expressions over the variables that a random program has at that place.

Every choice goes through `choose(n)`, a number below `n`, so that hypothesis can draw and shrink a
program, and a plain random generator can draw many. The first alternative is the simplest one.
Domains are kept safe by form: what is divided by, or logged, cannot come near zero.
"""

from dataclasses import dataclass

UNARY = (
    "math.sin({0})", "math.tanh({0})", "math.cos({0})", "math.exp(-({0}) ** 2)", "abs({0})", "-({0})",
    "np.cos({0})", "math.atan({0})", "np.sqrt(0.5 + ({0}) ** 2)", "math.sqrt(1 + ({0}) * ({0}))",
    "math.log(1.5 + ({0}) ** 2)", "math.asin(0.7 * math.tanh({0}))", "np.arctan({0})",
    "math.exp(math.tanh({0}))", "np.tanh({0})", "np.exp(np.sin({0}))", "math.erf({0})",
    "np.log1p(({0}) ** 2)", "math.sinh(math.sin({0}))", "np.abs({0})", "math.acosh(1.5 + ({0}) ** 2)",
    "math.expm1(math.sin({0}))", "math.lgamma(1.5 + ({0}) ** 2)", "float({0})", "np.square({0})",
    "math.fabs({0})", "np.reciprocal(1.5 + ({0}) ** 2)", "math.gamma(1.5 + math.tanh({0}))",
)  # fmt: skip
BINARY = (
    "min({0}, {1})", "max({0}, {1})", "({0} / (2.0 + ({1}) ** 2))", "math.hypot({0}, 1.0 + ({1}) ** 2)",
    "math.atan2({0}, 1.5 + ({1}) ** 2)", "(1.5 + math.tanh({0})) ** math.sin({1})",
    "math.pow(1.5 + math.sin({0}), {1})", "np.maximum({0}, {1})", "np.minimum({0}, 0.5)",
    "math.copysign({0}, {1})", "max({0}, {1}, 0.25)", "np.logaddexp(math.tanh({0}), math.sin({1}))",
    "(math.tanh({0}) % (1.5 + math.sin({1})))", "(complex({0}, {1}) ** 2).imag",
    "abs(complex({0}, 2.5 + math.tanh({1})))", "(complex({0}, {1}) * complex({1}, 0.5)).real",
)  # fmt: skip
POWERS = (
    "math.tanh({0}) ** 2", "math.tanh({0}) ** 3", "math.tanh({0}) ** 2.0", "math.sin({0}) ** k",
    "(1.5 + ({0}) ** 2) ** -1", "(1.5 + math.sin({0})) ** 0.5", "2 ** math.tanh({0})",
    "math.cos({0}) ** {n}", "(2 + math.sin({0})) ** (k - 4)",
)  # fmt: skip
CALLS = (
    "blend({0})", "bend({0})", "blend({0}, {1})", "blend({1}, n=3)", "blend(y={0}, x={1})",
    "near({0}, {1})", "root({0})", "climb({0}, 2)", "climb({0}, k)", "even({0}, 3)",
    "apply(bend, {0})", "apply(blend, {0})", "spread(x + {0}, y * {1})", "spread(x, y, x * {1})",
    "smooth({0}, {1})", "both({0}, {1})[0]", "paired({0}).u", "paired({0}, {1}).w",
)  # fmt: skip
REDUCTIONS = (
    "total({b})", "weigh({b})", "first_above({b}, {0})", "weigh(shifted({b}, {0}))",
    "weigh(either({b}, {c}, {0}))", "total({b}[{b} > {0}])", "weigh({b}[np.array([0, -1, 0])])",
    "total([v * {0} for v in {b}])", "weigh({b}[{i}:])", "weigh(back({b})[1:])",
)  # fmt: skip
LITERALS = "0.5", "1", "-1.5", "2", "0.25", "0", "0.1"


@dataclass(frozen=True)
class Array:
    """A variable or expression; `plain` where it is known to lie in memory in C's order."""

    source: str
    shape: tuple
    plain: bool


class Expressions:
    """Draws expressions; a subclass writes statements around them."""

    def __init__(self, choose):
        self.choose = choose
        self.numbers, self.integers, self.flags = ["x", "y"], [("k", 5)], []
        self.arrays = [Array("a", (4,), True), Array("m", (2, 3), True)]
        self.members, self.lists, self.functions = ["p.u", "p.w"], [], []
        self.used = set()  # what the program has, by name

    def pick(self, *choices):
        return choices[self.choose(len(choices))]

    def form(self, templates, depth):
        """One of the templates with drawn expressions in the places that it has."""
        template, vector = self.pick(*templates), self.vector()
        n = vector.shape[0]
        return template.format(
            *(self.number(depth) if f"{{{j}}}" in template else "" for j in range(2)),
            n=self.pick("2", "3"),
            b=vector.source,
            c=self.pick(*(v.source for v in self.arrays if v.shape == vector.shape)),
            i=self.index(n) if "{i}" in template else "",
        )

    # -- floats ------------------------------------------------------------------------------

    def number(self, depth=2):
        """Source of a float (of an int, now and then)."""
        kind = self.pick(*self.number_kinds(depth))
        self.used.add(kind)
        return getattr(self, "_" + kind)(depth - 1)

    def number_kinds(self, depth):
        kinds = ["name", "name", "literal", "element", "member"]
        if depth > 0:
            kinds += ["sum", "sum", "sum", "function", "function", "pair", "power", "call", "call"]
            kinds += ["reduction", "ternary", "counted", "logic", "closure"]
        return kinds

    def _name(self, _):
        return self.pick(*self.numbers)

    def _literal(self, _):
        return self.pick(*LITERALS, *(name for name, _ in self.integers))

    def _element(self, _):
        return self.element(self.pick(*self.arrays))

    def element(self, array):
        """Source of one element, also where it is stored to."""
        indices = [self.index(n) for n in array.shape]
        if len(indices) == 1:
            return f"{array.source}[{indices[0]}]"
        joint = ", ".join(indices)
        return array.source + self.pick(f"[{joint}]", f"[({joint})]", f"[{']['.join(indices)}]")

    def _member(self, _):
        lists = (f"{name}[{self.pick('0', '-1', '1', f'k % len({name})')}]" for name in self.lists)
        return self.pick(*self.members, *lists, "WEIGHTS[k]")

    def _sum(self, depth):
        return f"({self.number(depth)} {self.pick('+', '-', '*')} {self.number(depth)})"

    def _function(self, depth):
        return self.form(UNARY, depth)

    def _pair(self, depth):
        return self.form(BINARY, depth)

    def _power(self, depth):
        return self.form(POWERS, depth)

    def _call(self, depth):
        return self.form(CALLS, depth)

    def _reduction(self, depth):
        return self.form(REDUCTIONS, 0)

    def _ternary(self, depth):
        return f"({self.number(depth)} if {self.condition()} else {self.number(depth)})"

    def _counted(self, depth):
        flags = self.flags or ["(x > y)"]
        return f"{self.pick(self.integer(), self.pick(*flags))} * {self.number(depth)}"

    def _logic(self, depth):
        return f"({self.number(0)} {self.pick('and', 'or')} {self.number(depth)})"

    def _closure(self, depth):
        return f"{self.pick('bend', *self.functions)}({self.number(depth)})"

    # -- ints and bools ----------------------------------------------------------------------

    def integer(self):
        names = [name for name, _ in self.integers]
        vector = self.vector().source
        return self.pick(
            *names, f"({self.pick(*names)} + 1)", f"({self.pick(*names)} % 2)", f"len({vector})",
            f"({self.pick(*names)} // 2)", f"{vector}.shape[0]", f"int({self.pick(*self.numbers)})",
        )  # fmt: skip

    def index(self, n):
        """Source of an index into an axis of length `n`, in range."""
        fit = [name for name, bound in self.integers if bound <= n]
        fixed = [str(j) for j in range(n)]
        return self.pick(
            *fixed, "-1", *fit, *fit, *(f"-1 - {name}" for name in fit), f"({self.integer()} % {n})"
        )

    def comparison(self):
        names = [name for name, _ in self.integers]
        return self.pick(
            f"{self.number(1)} {self.pick('<', '>', '<=', '>=')} {self.pick('0.3', '-0.2', 'y')}",
            f"{self.number(0)} < {self.number(1)}",
            f"{self.pick(*names)} % 2 == {self.pick('0', '1')}",
            f"{self.pick(*names)} {self.pick('>', '==', '!=')} {self.pick('1', '2')}",
            f"-0.5 < {self.number(1)} <= 1.25",
            *self.flags,
        )

    def condition(self):
        return self.pick(
            self.comparison(),
            f"not {self.comparison()}" if self.choose(3) else self.comparison(),
            f"({self.comparison()} {self.pick('and', 'or')} {self.comparison()})",
        )

    # -- arrays ------------------------------------------------------------------------------

    def vector(self):
        """A known array of one axis."""
        return self.pick(*(v for v in self.arrays if len(v.shape) == 1))

    def array(self):
        """Any array: new, or a view of a known one."""
        if self.choose(3) == 0:
            return self.new(self.pick((4,), (3,), (2, 3), (2, 2), (2, 2, 2), (6,)))
        return self.pick(*self.views(self.pick(*self.arrays)))

    def array_like(self, wanted):
        """An array that a variable of this shape and order can be set to."""
        views = [v for b in self.arrays for v in self.views(b)]
        fit = [v for v in views if v.shape == wanted.shape and v.plain >= wanted.plain]
        return self.pick(self.new(wanted.shape), *fit)

    def new(self, shape):
        """A newly allocated array."""
        size = shape if len(shape) > 1 else shape[0]
        forms = ["np.zeros({s})", "np.ones({s})", "np.full({s}, 1.0 * {0})", "np.zeros({t})"]
        if len(shape) == 1:
            items = ", ".join(f"1.0 * {self.number(1)}" for _ in range(size))
            forms += [f"np.array([{items}])", "np.linspace({0}, {1}, {s})", "np.arange({s}.0)"]
        elif len(set(shape)) == 1 and len(shape) == 2:
            forms.append("np.eye({n})")
        source = self.pick(*forms).format(
            self.number(1), self.number(0), s=size, t=shape, n=shape[0]
        )
        return Array(source, shape, True)

    def views(self, b):
        """Arrays of the elements of a known one: views first, then copies."""
        name, shape, plain = b.source, b.shape, b.plain
        found = [b, Array(f"{name}[::-1]", shape, False)]
        found += getattr(self, f"_views{len(shape)}")(name, shape, plain)
        fresh = f"np.full_like({name}, {self.number(0)})"
        copies = f"{name}.copy()", f"np.zeros_like({name})", f"np.ones_like({name})", fresh
        return found + [Array(source, shape, plain) for source in copies]

    def _views1(self, name, shape, plain):
        (n,) = shape
        found = [(f"{name}[1:]", (n - 1,), False), (f"{name}[:{n - 1}]", (n - 1,), False)]
        found += [(f"back({name})", shape, False), (f"{name}[:, None]", (n, 1), False)]
        found += [(f"shifted({name}, {self.number(0)})", shape, True), (f"{name}.T", shape, plain)]
        found.append((f"{name}[np.array([0, -1, 1 % {n}])]", (3,), True))
        same = self.pick(*(v.source for v in self.arrays if v.shape == shape))
        found.append((f"either({name}, {same}, {self.number(0)})", shape, False))
        if n % 2 == 0:
            found += [(f"{name}[::2]", (n // 2,), False), (f"{name}[-1::-2]", (n // 2,), False)]
            if plain:
                found.append((f"{name}.reshape(2, {n // 2})", (2, n // 2), True))
        if n > 2:
            found.append((f"{name}[1:-1]", (n - 2,), False))
        return [Array(*v) for v in found if 0 not in v[1]]

    def _views2(self, name, shape, plain):
        r, c = shape
        found = [(f"{name}[{self.index(r)}]", (c,), plain), (f"{name}.T", (c, r), False)]
        found += [(f"{name}[:, {self.index(c)}]", (r,), False), (f"{name}[:, ::-1]", shape, False)]
        found += [(f"np.transpose({name})", (c, r), False), (f"{name}[..., 0]", (r,), False)]
        if plain:
            found += [
                (f"{name}.ravel()", (r * c,), True),
                (f"{name}.reshape({r * c})", (r * c,), True),
            ]
            found.append((f"{name}.reshape(({c}, {r}))", (c, r), True))
        return [Array(*v) for v in found]

    def _views3(self, name, shape, plain):
        first, second, third = shape
        found = [(f"{name}[{self.index(first)}]", (second, third), plain)]
        found += [(f"{name}[:, {self.index(second)}]", (first, third), False)]
        found += [(f"{name}[..., {self.index(third)}]", (first, second), False)]
        return [Array(*v) for v in found]

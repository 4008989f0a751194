"""Writes random programs over users' types: an extension type, a structref, a jitted class.

A program takes what those of `tests.reverse.programs` take, and one value of each of these types. It
computes with their operators, methods and fields, changes them, keeps them in tuples, lists and fields,
passes them to functions, and chooses among them in branches and loops.
"""

import random

from tests.reverse import programs
from tests.reverse.classes import INSTANCES
from tests.reverse.expressions import Array

LEAST = 3

# `{s}`, `{t}` are values of the kind, `{0}`, `{1}` numbers, `{i}` an index, `{v}` a new array of three
MADE = {
    "quaternion": (
        "{s} + {t}", "{s} * {t}", "{s}.conj()", "{s}.scale({0})", "{s}.scale()", "lerp({s}, {t})",
        "turned({s}, {0})", "spun({s}, 2)", "chosen({s}, {t}, {0})", "{s} if {t} < {s} else {t} * {s}",
        "quaternion({0}, {1}, x, 1)", "quaternion({s}.z, {t}.x, {0}, {s}.y)", "({s}, {t})[{k} % 2]",
    ),
    "box": (
        "{s} + {t}", "moved({s}, {0})", "chosen({s}, {t}, {0})", "{s}", "Box(1.0 * {0}, 1.0 * {1})",
        "Box({s}.y, {t}.area)", "{s} if {0} > {t}.x else {t}", "({s}, {t})[{k} % 2]",
    ),
    "cell": (
        "{s} + {t}", "{s} * {0}", "-{s}", "advanced({s}, {0}, 2)", "chosen({s}, {t}, {0})", "{s}",
        "Cell(1.0 * {0}, 1.0 * {1}, {v})", "{s} if {s} < {t} else {t}", "Cell({s}.r, {t}.size, {s}.w)",
    ),
    "polynomial": (
        "polynomial({v}, 1.5 + math.tanh({0}), 2)", "{s} * (1.0 * {0})", "{s}",
        "chosen({s}, {t}, {0})", "polynomial({s}.coefficients, {t}.unit, 1)",
    ),
}  # fmt: skip
READ = {
    "quaternion": ("{s}.w", "{s}.x", "{s}.y * {s}.z", "abs({s})", "{s}.square", "({s} * {t}).w"),
    "box": ("{s}.x", "{s}.y", "{s}.area", "{s}.weighted({0})", "({s} + {t}).x"),
    "cell": (
        "{s}.v", "{s}.r", "{s}.w[{i}]", "{s}[{i}]", "{s}.size", "{s}.energy({0})", "{s}.step({0})",
        "{s}.n * 0.1", "({s} + {t}).energy({0})",
    ),
    "polynomial": ("{s}.at({0})", "{s}.unit", "{s}.coefficients[{i}]"),
}  # fmt: skip
CHANGED = {
    "quaternion": ("{s} = {s} + {t}", "{s} = {s} * {t}", "{s} = {t}"),
    "box": ("{s}.x = 1.0 * {0}", "{s}.y *= {0}", "{s}.x -= {t}.y", "{s}.scale({0})", "{s} = {t}"),
    "cell": (
        "{s}.v = 1.0 * {0}", "{s}.r -= {0}", "{s}.w[{i}] *= {0}", "{s}[{i}] = {0}", "{s} += {t}",
        "{s}.step({0})", "{s}.w = {v}", "{s} = {t}", "{s}.v, {t}.r = {t}.r, {s}.v",
    ),
    "polynomial": ("{s}.coefficients[{i}] = {0}", "{s} = {t}"),
}  # fmt: skip
FIRST = {  # of each kind: its name, and what it is where it is no argument
    "quaternion": ("q", "quaternion(x, 0.3 * y, a[1], 0.5)"),
    "box": ("b", "Box(x + m[0, 1], y * x)"),
    "cell": ("c", "Cell(y, x * x, a[1:].copy())"),
    "polynomial": ("r", "polynomial(m[1].copy(), 1.5 + x * x, 2)"),
}
NOT_TOGETHER = {"{s} = {s} * {t}"}  # grows without bound round loops
LISTED = {
    "quaternion": ("squares({l})", "{l}[0].w", "{l}[-1].square"),
    "box": ("areas({l})", "areas(typed_boxes({l}[0], {0}))", "{l}[k % len({l})].x"),
    "cell": ("measured({l})", "{l}[0].energy({0})", "{l}[-1].step({0})"),
}


class ClassWriter(programs.Writer):
    """Writes one program with values of users' types."""

    def __init__(self, choose, budget):
        super().__init__(choose, budget)
        dropped = self.pick(*FIRST)
        kinds = [kind for kind in FIRST if kind != dropped][self.choose(2) :]
        self.values = {kind: [FIRST[kind][0]] for kind in kinds}
        self.listed = {kind: [] for kind in kinds if kind in LISTED}
        if self.choose(4) == 0:
            self.used.add("instances")
            self.header = f"def program({INSTANCES.parameters}):\n"
            kinds = [kind for kind in kinds if kind == "polynomial"]
        for kind in kinds:
            self.line(1, " = ".join(FIRST[kind]))

    def scoped(self):
        return (*super().scoped(), *self.values.values(), *self.listed.values())

    def everything(self):
        terms = [super().everything()]
        for kind, names in self.values.items():
            for name in [*names[:1], *names[1:][-1:]]:
                terms += [form.format("x", s=name, t=name, i="1") for form in READ[kind][:2]]
        for kind, names in self.listed.items():
            terms += [LISTED[kind][0].format("x", l=name) for name in names[-1:]]
        return " + ".join(terms)

    # -- values ------------------------------------------------------------------------------

    def kind(self):
        return self.pick(*self.values)

    def filled(self, form, kind, name=None):
        names = self.values[kind]
        holes = {"s": name or self.pick(*names), "t": self.pick(*names)}
        if "{i}" in form:
            holes["i"] = self.index(3)
        if "{k}" in form:
            holes["k"] = self.integer()
        if "{v}" in form:
            items = ", ".join(f"1.0 * {self.number(0)}" for _ in range(3))
            holes["v"] = f"np.array([{items}])"
        numbers = (self.number(1) if f"{{{j}}}" in form else "" for j in range(2))
        return form.format(*numbers, **holes)

    def statement_kinds(self, depth, nesting):
        kinds = super().statement_kinds(depth, nesting)
        kinds += ["value", "alter"] * 5
        return kinds + ["hold", "gather", "visit"] * 2

    def number_kinds(self, depth):
        kinds = super().number_kinds(depth)
        return kinds + (["read", "read", "read"] if depth > 0 else ["field", "field"])

    def _read(self, _):
        kind = self.kind()
        return f"({self.filled(self.pick(*READ[kind]), kind)})"

    def _field(self, _):
        kind = self.kind()
        return self.filled(self.pick(*self.plainly_read(kind)), kind)

    def plainly_read(self, kind):
        return [form for form in READ[kind] if not {"(", "*"} & set(form)]

    def _write_value(self, depth, _):
        kind = self.kind()
        value = self.filled(self.pick(*MADE[kind]), kind)
        self.values[kind].append(self.fresh(FIRST[kind][0] + "u"))
        self.line(depth, f"{self.values[kind][-1]} = {value}")

    def _write_alter(self, depth, _):
        kind = self.kind()
        forms = [f for f in CHANGED[kind] if not (self.loops and f in NOT_TOGETHER)]
        self.line(depth, self.filled(self.pick(*forms), kind))

    def _write_hold(self, depth, _):
        """A value in a field of a structref, or in a tuple, read again and changed there."""
        name, one, other = self.fresh("h"), self.kind(), self.kind()
        form, number = self.choose(3), self.number(0)
        if form == 2:
            v = self.vector()
            self.line(depth, f"{name} = Box(1.0 * {number}, {v.source})")
            self.arrays.append(Array(f"{name}.y", v.shape, False))
            self.members.append(f"{name}.x")
            return
        held = self.pick(*self.values[one]), self.pick(*self.values[other])
        text = (
            f"{name} = Box({held[0]}, {held[1]})",
            f"{name} = ({held[0]}, ({held[1]}, {number}))",
        )
        self.line(depth, text[form])
        places = (f"{name}.x", f"{name}.y") if form == 0 else (f"{name}[0]", f"{name}[1][0]")
        for kind, place in zip((one, other), places, strict=True):
            self.members.append(self.filled(self.pick(*self.plainly_read(kind)), kind, place))
            changes = [form for form in CHANGED[kind] if not form.startswith(("{s} =", "{s} +="))]
            if changes:
                self.line(depth, self.filled(self.pick(*changes), kind, place))

    def _write_gather(self, depth, _):
        """A list of values."""
        kind, name = self.pick(*self.listed), self.fresh("lu")
        items = [self.filled(self.pick("{s}", *MADE[kind]), kind) for _ in range(2)]
        self.line(depth, f"{name} = [{', '.join(items)}]")
        if self.choose(2) and not self.loops:
            self.line(depth, f"{name}.append({self.pick(*self.values[kind])})")
        self.listed[kind].append(name)
        read = self.pick(*LISTED[kind]).format(self.number(0), l=name)
        self.numbers.append(self.fresh("s"))
        self.line(depth, f"{self.numbers[-1]} = {read}")

    def _write_visit(self, depth, nesting):
        """A loop over a list of values, or over some in a tuple, that changes them."""
        kind = self.pick(*self.listed)
        value, values = self.fresh(FIRST[kind][0] + "u"), self.values[kind]
        source = self.pick(f"({values[0]}, {values[-1]})", *self.listed[kind])
        self.line(depth, f"for {value} in {source}:")
        self.loops += 1
        values.append(value)
        change = self.pick(*(f for f in CHANGED[kind] if f not in NOT_TOGETHER))
        self.line(depth + 1, self.filled(change, kind, value))
        self.line(depth + 1, f"{self.pick(*self.numbers)} += {self._read(0)} * 0.5")
        values.remove(value)
        self.loops -= 1


def random_class_program(seed):
    """The program of a seed, without hypothesis."""
    source = random.Random(seed)
    return ClassWriter(source.randrange, source.randint(LEAST, 2 * LEAST)).write()

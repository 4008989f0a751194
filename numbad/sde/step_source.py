"""Source of one step, for each form of method: a formula over components, written from the tableau."""

from functools import singledispatch

from numbad.errors import ModelError
from numbad.sde.scheme import (
    ADDITIVE,
    BOTH,
    ITO,
    SCALAR,
    STRATONOVICH,
    AdditiveRoessler,
    DerivativeFreeMilstein,
    DiagonalRoessler,
    DriftImplicit,
    LangevinSplitting,
    Milstein,
    RungeKutta,
    WeakRoessler,
)

NO_MATRICES_IN_ARRAYS = (
    "method {!r} takes a diffusion that is a matrix for states in tuples, not in arrays. Ways out: a tuple; "
    "method='EulerMaruyama'"
)


class StepWriter:
    """The lines of one step from `y_0, y_1, ...` at `t` of size `h`, with W and H in `w_j` and `a_j`."""

    def __init__(self, form, scheme, calculus):
        self.form, self.scheme, self.calculus = form, scheme, calculus
        self.lines, self.known, self.serial = [], {}, 0
        self.y = form.names("y")
        self.w, self.areas = form.channel_names("w"), form.channel_names("a")

    def fresh(self, prefix):
        self.serial += 1
        return f"{prefix}{self.serial}"

    def name(self, prefix, sources):
        """Lines that give names to one source for each component; the names."""
        names = self.form.names(self.fresh(prefix))
        self.lines += [f"{n} = {s}" for n, s in zip(names, sources, strict=True)]
        return names

    # -- evaluations ---------------------------------------------------------------------------------

    def drift(self, t, y):
        """Names of the drift at time `t` and the state `y`, corrected where the calculus asks for it."""
        key = "drift", t, tuple(y)
        if key not in self.known:
            found = self._call("drift", t, y)
            correction = self._correction(t, y)
            if correction is not None:
                found = self.name("f", [f"{f} {c}" for f, c in zip(found, correction, strict=True)])
            self.known[key] = found
        return self.known[key]

    def diffusion(self, t, y):
        """Names of the diffusion, one for each component, of a row where it is a matrix."""
        key = "diffusion", t, tuple(y)
        if key not in self.known:
            self.known[key] = self._call("diffusion", t, y)
        return self.known[key]

    def _call(self, function, t, y):
        form, result = self.form, self.fresh("r")
        self.lines.append(f"{result} = {function}({t}, {form.state(y)}{form.arguments()})")
        return self._members(result, getattr(form, function))

    def _members(self, result, ty):
        from numba.core import types

        if self.form.is_array or not isinstance(ty, types.BaseTuple):
            return [result]
        return [f"{result}[{i}]" for i in range(self.form.count)]

    def _along(self, t, y, direction):
        """Members of the derivative of the diffusion by the state along a direction."""
        form, result = self.form, self.fresh("d")
        given = f"({t}, {form.state(y)}{form.arguments()})"
        self.lines.append(f"_, {result} = diffusion_jvp({given}, ({form.state(direction)},))")
        return self._members(result, form.diffusion)

    def own_slope(self, t, y, g):
        """Sum over channels j of (dg_j / dy) g_j, one source for each component."""
        form = self.form
        if form.noise == ADDITIVE:
            return ["0.0"] * form.components
        if form.is_matrix and form.is_array:
            return [self._slope_of_columns(t, y[0], g[0])]
        if form.is_matrix:
            columns = [
                [f"{d}[{j}]" for d in self._along(t, y, [f"{row}[{j}]" for row in g])]
                for j in range(form.channels)
            ]
            return [" + ".join(entries) for entries in zip(*columns, strict=True)]
        if form.noise == SCALAR or form.is_array or form.count == 1:
            return self._along(t, y, g)
        found = []
        for i in range(form.count):
            direction = ["0.0"] * form.count
            direction[i] = g[i]
            found.append(self._along(t, y, direction)[i])
        return found

    def _slope_of_columns(self, t, y, g):
        """The same for a matrix, column by column."""
        slope, j = self.fresh("slope"), self.fresh("j")
        self.lines += [
            f"{slope} = np.zeros({y}.size)",
            f"for {j} in range({g}.shape[1]):",
            f"    _, along = diffusion_jvp(({t}, {y}{self.form.arguments()}), ({g}[:, {j}].copy(),))",
            f"    {slope} = {slope} + along[:, {j}]",
        ]
        return slope

    def _correction(self, t, y):
        """What turns the drift of the problem's calculus into that of the method's."""
        method = self.scheme.calculus
        if method in (BOTH, self.calculus) or self.form.noise == ADDITIVE:
            return None
        sign = {ITO: "-", STRATONOVICH: "+"}[self.calculus]
        slope = self.own_slope(t, y, self.diffusion(t, y))
        return [f"{sign} 0.5 * ({s})" for s in slope]

    # -- formulas ------------------------------------------------------------------------------------

    def noise(self, g, weights):
        """The diffusion times one weight (source) for each channel, one source for each component."""
        form = self.form
        if not form.is_matrix:
            weights = weights * form.components if len(weights) == 1 else weights
            return [f"{gi} * ({w})" for gi, w in zip(g, weights, strict=True)]
        if form.is_array:
            return [f"times({g[0]}, {weights[0]})"]
        return [" + ".join(f"{row}[{j}] * ({w})" for j, w in enumerate(weights)) for row in g]

    def channels(self, formula):
        """A formula of W and H for each channel."""
        return [formula(w, a) for w, a in zip(self.w, self.areas, strict=True)]

    def combined(self, terms, prefix="y", start=None):
        """Names of the start (y) + the sum of terms, each one source for each component."""
        start = start or self.y
        if not terms:
            return start
        rows = zip(start, *terms, strict=True)
        return self.name(prefix, [" + ".join(row) for row in rows])

    def implicit(self, time, coefficient, known):
        """Names of the z with z = known + coefficient f(time, z), sought from the state at the start."""
        form, found = self.form, self.fresh("z")
        given = ", ".join([time, coefficient, *self.y, *known])
        self.lines.append(f"{found} = solve_stage(args, {given})")
        return [f"{found}[{i}]" for i in range(form.count)] if form.is_tuple else [found]

    def end(self, terms, start=None):
        """The state at the end of the step."""
        new = self.combined(terms, start=start)
        self.lines += [f"{old} = {name}" for old, name in zip(self.y, new, strict=True)]
        return self.lines

    def time(self, c):
        return "t" if c == 0.0 else "t + h" if c == 1.0 else f"t + {c!r} * h"


def scaled(weight, names, factor="h"):
    """Sources of weight * factor * name."""
    left = factor if weight == 1.0 else f"({weight!r} * {factor})"
    return [f"{left} * {name}" for name in names]


def weighted(*pairs):
    """Source of a sum of weight * name, without zeros; None where nothing is left."""
    terms = [name if weight == 1.0 else f"{weight!r} * {name}" for weight, name in pairs if weight]
    return " + ".join(terms) or None


@singledispatch
def write_step(scheme, writer):
    """The lines of a step of a method."""
    raise NotImplementedError(scheme)


@write_step.register
def _(scheme: RungeKutta, writer):
    stages, areas = len(scheme.c), scheme.needs_areas
    a_h = scheme.a_h or tuple((0.0,) * i for i in range(stages))
    b_h = scheme.b_h or (0.0,) * stages
    y = []

    def terms(b, b_w, b_h):
        found = []
        for j, pair in enumerate(zip(b_w, b_h, strict=True)):
            if b[j]:
                found.append(scaled(b[j], writer.drift(writer.time(scheme.c[j]), y[j])))
            if any(pair):
                g = writer.diffusion(writer.time(scheme.c[j]), y[j])
                found.append(
                    writer.noise(
                        g, writer.channels(lambda w, a, p=pair: weighted((p[0], w), (p[1], a)))
                    )
                )
        return found

    for i in range(stages):
        y.append(writer.combined(terms(scheme.a[i], scheme.a_w[i], a_h[i]), "s"))
    last = terms(scheme.b, scheme.b_w, b_h)
    if scheme.time_correction:
        change = writer.channels(lambda w, a: f"0.5 * {w} - {a}")
        now, then = (writer.diffusion(time, writer.y) for time in ("t", "t + h"))
        last.append(writer.noise(then, change))
        last.append([f"-({source})" for source in writer.noise(now, change)])
    assert areas or not any(b_h)
    return writer.end(last)


@write_step.register
def _(scheme: Milstein, writer):
    g = writer.diffusion("t", writer.y)
    last = [scaled(1.0, writer.drift("t", writer.y)), writer.noise(g, writer.w)]
    if writer.form.noise != ADDITIVE:
        last.append(writer.noise(writer.own_slope("t", writer.y, g), _double_integrals(writer)))
    return writer.end(last)


@write_step.register
def _(scheme: DerivativeFreeMilstein, writer):
    g, drift = writer.diffusion("t", writer.y), scaled(1.0, writer.drift("t", writer.y))
    last = [drift, writer.noise(g, writer.w)]
    if writer.form.noise != ADDITIVE:
        writer.lines.append("root = math.sqrt(h)")
        beside = writer.combined([drift, scaled(1.0, g, "root")], "s")
        pairs = zip(writer.diffusion("t", beside), g, strict=True)
        slopes = [f"(({there} - {here}) / root)" for there, here in pairs]
        last.append(writer.noise(slopes, _double_integrals(writer)))
    return writer.end(last)


def _double_integrals(writer):
    """For each channel, the integral of W dW over the step, in the calculus of the problem."""
    less = " - h" if writer.calculus == ITO else ""
    return [f"0.5 * ({w} * {w}{less})" for w in writer.w]


@write_step.register
def _(scheme: DriftImplicit, writer):
    if scheme.is_split:
        z = writer.implicit("t + h", "h", writer.y)
        return writer.end([writer.noise(writer.diffusion("t + h", z), writer.w)], start=z)
    g = writer.diffusion("t", writer.y)
    known = [writer.noise(g, writer.w)]
    if scheme.theta < 1.0:
        known.append(scaled(1.0 - scheme.theta, writer.drift("t", writer.y)))
    if scheme.has_slope and writer.form.noise != ADDITIVE:
        known.append(writer.noise(writer.own_slope("t", writer.y, g), _double_integrals(writer)))
    coefficient = "h" if scheme.theta == 1.0 else f"{scheme.theta!r} * h"
    z = writer.implicit("t + h", coefficient, writer.combined(known, "k"))
    return writer.end([], start=z)


@write_step.register
def _(scheme: LangevinSplitting, writer):
    parts = scheme.parts
    write = _split_array if writer.form.is_array else _split_tuple
    return write(writer, parts, {part: f"(h / {parts.count(part)}.0)" for part in set(parts)})


def _split_tuple(writer, parts, widths):
    """For q and v in names of their own."""
    half = writer.form.count // 2
    q, v = writer.y[:half], writer.y[half:]
    zeros, ones = ["0.0"] * half, ["1.0"] * half
    noise = writer.name("n", writer.noise(writer.diffusion("t", writer.y), writer.w))[half:]
    for k, part in enumerate(parts):
        time, width = ("t + h" if k > parts.index("O") else "t"), widths[part]
        if part == "A":
            moved = writer.drift(time, q + v)[:half]
            q = _moved(writer, "q", q, width, moved)
        elif part == "B":
            v = _moved(writer, "v", v, width, writer.drift(time, q + zeros)[half:])
        else:
            rest, beside = writer.drift("t", q + zeros)[half:], writer.drift("t", q + ones)[half:]
            names = [writer.fresh("v") for _ in range(half)]
            for i, name in enumerate(names):
                writer.lines += [
                    f"c, s = damping(({rest[i]} - {beside[i]}) * h)",
                    f"{name} = c * {v[i]} + s * {noise[i]}",
                ]
            v = names
    writer.lines += [f"{old} = {new}" for old, new in zip(writer.y, q + v, strict=True)]
    return writer.lines


def _moved(writer, prefix, old, width, slopes):
    names = [writer.fresh(prefix) for _ in old]
    rows = zip(names, old, slopes, strict=True)
    writer.lines += [f"{name} = {x} + {width} * {slope}" for name, x, slope in rows]
    return names


def _split_array(writer, parts, widths):
    """For q and v in halves of an array."""
    y, more = writer.y[0], writer.form.arguments()
    noise = writer.noise(writer.diffusion("t", writer.y), writer.w)[0]
    lines = [f"noise = {noise}", f"z, half = {y}.copy(), {y}.size // 2"]
    for k, part in enumerate(parts):
        time, width = ("t + h" if k > parts.index("O") else "t"), widths[part]
        if part != "A":
            lines += ["rest = z.copy()", "rest[half:] = 0.0"]
        if part == "O":
            lines += ["beside = z.copy()", "beside[half:] = 1.0"]
            lines.append(f"slopes, more_slopes = drift(t, rest{more}), drift(t, beside{more})")
        else:
            lines.append(f"slopes = drift({time}, {'z' if part == 'A' else 'rest'}{more})")
        lines.append("for row in range(half):")
        if part == "A":
            lines.append(f"    z[row] += {width} * slopes[row]")
        elif part == "B":
            lines.append(f"    z[half + row] += {width} * slopes[half + row]")
        else:
            lines += [
                "    c, s = damping((slopes[half + row] - more_slopes[half + row]) * h)",
                "    z[half + row] = c * z[half + row] + s * noise[half + row]",
            ]
    return [*writer.lines, *lines, f"{y} = z"]


def _stages(writer, scheme, noise_of):
    """Drift stages of Roessler's forms; `noise_of(i)` gives the terms of the noise in stage i."""
    stages = []
    for i, row in enumerate(scheme.a0):
        known = [scaled(weight, stages[j]) for j, weight in enumerate(row) if weight]
        state, time = writer.combined(known + noise_of(i), "s"), writer.time(scheme.c0[i])
        if i and scheme.gamma:
            state = writer.implicit(time, f"{scheme.gamma!r} * h", state)
        stages.append(writer.drift(time, state))
    return stages


@write_step.register
def _(scheme: AdditiveRoessler, writer):
    times = [writer.time(c) for c in scheme.c1]
    area = writer.channels(lambda w, a: f"0.5 * {w} + {a}")

    def noise_of(i):
        return [
            writer.noise(writer.diffusion(times[j], writer.y), [f"{b!r} * ({x})" for x in area])
            for j, b in enumerate(scheme.b0[i])
            if b
        ]

    stages = _stages(writer, scheme, noise_of)
    last = [scaled(b, f) for b, f in zip(scheme.alpha, stages, strict=True) if b]
    for j, pair in enumerate(zip(*scheme.betas, strict=True)):
        if any(pair):
            weights = writer.channels(
                lambda w, a, p=pair: weighted((p[0], w), (p[1], f"(0.5 * {w} + {a})"))
            )
            last.append(writer.noise(writer.diffusion(times[j], writer.y), weights))
    return writer.end(last)


@write_step.register
def _(scheme: DiagonalRoessler, writer):
    writer.lines.append("root = math.sqrt(h)")
    chi = []
    for j, (w, a) in enumerate(zip(writer.w, writer.areas, strict=True)):
        names = [f"chi{k}_{j}" for k in (1, 2, 3)]
        writer.lines += [
            f"{names[0]} = ({w} * {w} - h) / (2.0 * root)",
            f"{names[1]} = 0.5 * {w} + {a}",
            f"{names[2]} = ({w} * {w} - 3.0 * h) * {w} / (6.0 * h)",
        ]
        chi.append((w, *names))
    f, g = [], []
    for i in range(len(scheme.alpha)):
        drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a0[i]) if x]
        noises = [
            writer.noise(g[j], [f"{x!r} * {c[2]}" for c in chi])
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        state = writer.combined(drifts + noises, "s")
        f.append(writer.drift(writer.time(scheme.c0[i]), state) if _used(scheme, i) else None)
        drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a1[i]) if x]
        noises = [scaled(x, g[j], "root") for j, x in enumerate(scheme.b1[i]) if x]
        state = writer.combined(drifts + noises, "s")
        g.append(writer.diffusion(writer.time(scheme.c1[i]), state))
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha) if x]
    for j, weights in enumerate(zip(*scheme.betas, strict=True)):
        last.append(writer.noise(g[j], [weighted(*zip(weights, c, strict=True)) for c in chi]))
    return writer.end(last)


@write_step.register
def _(scheme: WeakRoessler, writer):
    writer.lines.append("root = math.sqrt(h)")
    if not writer.form.is_matrix:
        return _of_vectors(scheme, writer)
    if writer.form.is_array:
        raise ModelError(NO_MATRICES_IN_ARRAYS.format(scheme.name))
    return _of_matrices(scheme, writer)


def _own_weights(scheme, stage, w):
    """Of the first family of stages, for a channel."""
    squared = f"(({w} * {w} - h) / (2.0 * root))"
    return weighted((scheme.betas[0][stage], w), (scheme.betas[1][stage], squared)) or "0.0"


def _drift_stage(scheme, writer, f, noises):
    """The next stage of the drift, given those before and the terms of the noise in it."""
    i = len(f)
    known = [scaled(x, f[j]) for j, x in enumerate(scheme.a0[i]) if x]
    return writer.drift(writer.time(scheme.c0[i]), writer.combined(known + noises, "s"))


def _beside(scheme, writer, f, columns):
    """The state at which the diffusion of the next stage is taken: of one channel, or of each its own."""
    i = len(columns)
    drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a1[i]) if x]
    noises = [scaled(x, columns[j], "root") for j, x in enumerate(scheme.b1[i]) if x]
    return writer.combined(drifts + noises, "s")


def _of_vectors(scheme, writer):
    """One channel, or one for each component; mixed integrals have no part in either."""
    f, g = [], []
    for i in range(len(scheme.alpha)):
        noises = [
            writer.noise(g[j], [f"{x!r} * {w}" for w in writer.w])
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        f.append(_drift_stage(scheme, writer, f, noises))
        beside = _beside(scheme, writer, f, g)
        g.append(writer.diffusion(writer.time(scheme.c1[i]), beside))
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha)]
    last += [
        writer.noise(column, [_own_weights(scheme, i, w) for w in writer.w])
        for i, column in enumerate(g)
    ]
    return writer.end(last)


def _of_matrices(scheme, writer):
    """Several channels; `g[k][i]` is column k of the diffusion at stage i of channel k."""
    channels, stages = range(len(writer.w)), range(len(scheme.alpha))
    f, g = [], [[] for _ in channels]
    for i in stages:
        noises = [
            [f"{x!r} * {writer.w[k]} * {entry}" for entry in g[k][j]]
            for k in channels
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        f.append(_drift_stage(scheme, writer, f, noises))
        for k in channels:
            beside = _beside(scheme, writer, f, g[k])
            rows = writer.diffusion(writer.time(scheme.c1[i]), beside)
            g[k].append([f"{row}[{k}]" for row in rows])
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha)]
    for k, w in enumerate(writer.w):
        for i in stages:
            weight = _own_weights(scheme, i, w)
            last.append([f"({weight}) * {entry}" for entry in g[k][i]])
            mixed = [
                [f"{x!r} * {_mixed(writer, k, other)} * {entry}" for entry in g[other][j]]
                for other in channels
                for j, x in enumerate(scheme.b2[i])
                if x and other != k
            ]
            column = [f"{row}[{k}]" for row in writer.diffusion("t", writer.combined(mixed, "s"))]
            weight = weighted((scheme.betas[2][i], w), (scheme.betas[3][i], "root"))
            last.append([f"({weight}) * {entry}" for entry in column])
    return writer.end(last)


def _mixed(writer, k, other):
    """Source of the mixed integral of two channels, over sqrt h."""
    product = f"{writer.w[k]} * {writer.w[other]}"
    sign = "-" if k < other else "+"
    return f"(0.5 * ({product} / root {sign} math.copysign(root, {writer.areas[min(k, other)]})))"


def _used(scheme, i):
    """Whether the drift of stage i is used."""
    later = [row[i] for table in (scheme.a0, scheme.a1) for row in table if len(row) > i]
    return bool(scheme.alpha[i]) or any(later)

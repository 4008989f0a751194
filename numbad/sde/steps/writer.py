"""The lines of one step as they are written: evaluations, formulas over components, names."""

from functools import singledispatch

from numbad.sde.scheme import ADDITIVE, BOTH, ITO, SCALAR, STRATONOVICH


class StepWriter:
    """The lines of one step from `y_0, y_1, ...` at `t` of size `h`, with W and H in `w_j` and `a_j`."""

    def __init__(self, form, scheme, calculus):
        self.form, self.scheme, self.calculus = form, scheme, calculus
        self.lines, self.known, self.serial = [], {}, 0
        self.error = []  # terms of the estimated error of the step, each one source for each component
        self.y = form.names("y")
        self.w, self.areas = form.channel_names("w"), form.channel_names("a")
        if scheme.needs_levy and not form.is_array:
            self.areas = [f"a_{p}" for p in range(form.channels * (form.channels - 1) // 2)]

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
            return [f"matrix_times({g[0]}, {weights[0]})"]
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
def write_start(scheme, writer):
    """The lines before the first step, at time `t`, of a method that carries more than the state."""
    return []


@singledispatch
def write_step(scheme, writer):
    """The lines of a step of a method; one file of this folder for each form of method."""
    raise NotImplementedError(scheme)

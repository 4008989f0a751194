"""What is checked of a problem when it is solved: shapes that types do not tell, the kind of the noise."""

from numba.core import types

from numbad.errors import ModelError
from numbad.sde.scheme import (
    ADDITIVE,
    BOTH,
    DIAGONAL,
    DerivativeFreeMilstein,
    DiagonalRoessler,
    DriftImplicit,
    InterpolatedLangevin,
    LangevinScheme,
    Milstein,
    WeakScheme,
)
from numbad.sde.steps import StepWriter

NOT_ADDITIVE = (
    "noise='additive' means a diffusion that does not depend on y; the derivative of this one by y is not "
    "zero. Say noise='diagonal', 'scalar' or 'general'"
)
NOT_DIAGONAL = (
    "with noise='diagonal' this method needs a diffusion whose component i depends on y[i] alone; the "
    "derivative of this one by another component is not zero. Way out: method='EulerMaruyama', or "
    "noise='general' with a Stratonovich method, such as 'EulerHeun'"
)
WRONG_SIZE = "the {} must return an array of the length of y0, which it does not"
NO_ROWS = (
    "the diffusion must return an array with a row for each component of y0, which it does not"
)


NOT_LANGEVIN = (
    "this method solves dq = v dt, dv = (F(t, q) - gamma v) dt + g dW: y holds positions and then as many "
    "velocities, the drift of positions depends on velocities alone, friction is in proportion to each "
    "velocity by itself, and positions have no noise. This problem is another. Way out: method='SRA1'"
)
NOT_VELOCITIES = (
    "method 'ALIGN' solves dq = v dt: the drift of each position is its velocity, or a constant times it, "
    "which it is not here. Way out: method='BAOAB'"
)


def needs_diagonal(scheme, form, calculus):
    """Whether component i of the diffusion has to depend on component i of the state alone."""
    if form.noise != DIAGONAL or form.count == 1:
        return False
    corrected = form.is_array and scheme.calculus not in (BOTH, calculus)
    return corrected or _takes_slopes(scheme)


def _takes_slopes(scheme):
    if isinstance(scheme, DriftImplicit):
        return scheme.has_slope
    return isinstance(scheme, Milstein | DerivativeFreeMilstein | DiagonalRoessler | WeakScheme)


def check_source(form, scheme, calculus):
    """Source of `check(y0, t, args)`, which raises where the problem is not as it says."""
    writer = StepWriter(form, scheme, calculus)
    lines = writer.lines
    if form.is_array:
        lines.append("y_0 = y0 + 0.0")
        drift, diffusion = writer.drift("t", ["y_0"])[0], writer.diffusion("t", ["y_0"])[0]
        size = f"{diffusion}.shape[0]" if form.is_matrix else f"{diffusion}.size"
        lines += [
            f"if {drift}.size != y_0.size:",
            f"    raise ModelError({WRONG_SIZE.format('drift')!r})",
            f"if {size} != y_0.size:",
            f"    raise ModelError({(NO_ROWS if form.is_matrix else WRONG_SIZE.format('diffusion'))!r})",
        ]
        _check_array(writer, scheme, calculus)
    else:
        lines += initial(form)
        _check_tuple(writer, scheme, calculus)
    if isinstance(scheme, LangevinScheme):
        lines += _langevin(form)
    if isinstance(scheme, InterpolatedLangevin):
        lines += _moved_by_velocities()
    return "def check(y0, t, args):\n" + "\n".join("    " + line for line in (*lines, "return"))


def initial(form):
    """Lines that take the components of an initial state."""
    if not isinstance(form.y0, types.BaseTuple):
        return ["y_0 = y0 + 0.0"]
    return [f"{name} = y0[{i}] + 0.0" for i, name in enumerate(form.names("y"))]


def _check_array(writer, scheme, calculus):
    form, lines = writer.form, writer.lines
    if form.noise == ADDITIVE:
        along = writer._along("t", ["y_0"], ["np.ones(y_0.size)"])[0]
        lines += [f"if np.abs({along}).max() > 0.0:", f"    raise ModelError({NOT_ADDITIVE!r})"]
    if needs_diagonal(scheme, form, calculus):
        lines.append("weights = 1.0 + np.arange(y_0.size) % 7 / 3.0")
        ones = writer._along("t", ["y_0"], ["np.ones(y_0.size)"])[0]
        other = writer._along("t", ["y_0"], ["weights"])[0]
        lines += [
            f"if np.abs({other} - weights * {ones}).max() > 1e-9 * np.abs({other}).max():",
            f"    raise ModelError({NOT_DIAGONAL!r})",
        ]


def _check_tuple(writer, scheme, calculus):
    form = writer.form
    additive, diagonal = form.noise == ADDITIVE, needs_diagonal(scheme, form, calculus)
    for k in range(form.count if additive or diagonal else 0):
        direction = ["1.0" if i == k else "0.0" for i in range(form.count)]
        along = writer._along("t", writer.y, direction)
        if form.is_matrix:
            along = [f"{row}[{j}]" for row in along for j in range(form.channels)]
        told = NOT_ADDITIVE if additive else NOT_DIAGONAL
        for i, entry in enumerate(along):
            if additive or i != k:
                writer.lines += [f"if {entry} != 0.0:", f"    raise ModelError({told!r})"]


def _langevin(form):
    """Lines that try the drift at several positions and velocities."""
    refuse = f"    raise ModelError({NOT_LANGEVIN!r})"
    if not form.is_array and (form.count % 2 or form.count == 0):
        raise ModelError(NOT_LANGEVIN)
    state = "z" if form.is_array else form.state([f"z[{i}]" for i in range(form.count)])

    def evaluated(name, function, lines):
        """Lines that put what a function gives at `z` into an array."""
        found = f"{function}(t, {state}{form.arguments()})"
        if form.is_array:
            return [*lines, f"{name} = {found}"]
        parts = "".join(f"found_{name}[{i}], " for i in range(form.count))
        return [*lines, f"found_{name} = {found}", f"{name} = np.array(({parts}))"]

    start = "y_0" if form.is_array else f"np.array(({', '.join(form.names('y'))},))"
    return [
        f"start = {start}",
        "half = start.size // 2",
        "if start.size % 2 or half == 0:",
        refuse,
        "tried = 1.5 + np.arange(half) % 7 / 3.0",
        "z = start.copy()",
        *evaluated("noise", "diffusion", []),
        "if np.abs(noise[:half]).max() > 0.0:",
        refuse,
        *evaluated("rest", "drift", ["z = start.copy()", "z[half:] = 0.0"]),
        *evaluated("one", "drift", ["z = start.copy()", "z[half:] = 1.0"]),
        *evaluated("other", "drift", ["z = start.copy()", "z[half:] = tried"]),
        *evaluated("far", "drift", ["z = start.copy()", "z[:half] += tried", "z[half:] = tried"]),
        *evaluated(
            "far_rest", "drift", ["z = start.copy()", "z[:half] += tried", "z[half:] = 0.0"]
        ),
        "for i in range(half):",
        "    gamma = rest[half + i] - one[half + i]",
        "    sizes = abs(rest[half + i]) + abs(far_rest[half + i]) + abs(gamma)",
        "    here = other[half + i] - rest[half + i] + gamma * tried[i]",
        "    there = far[half + i] - far_rest[half + i] + gamma * tried[i]",
        "    if other[i] != far[i] or max(abs(here), abs(there)) > 1e-9 * sizes:",
        "    " + refuse,
    ]


def _moved_by_velocities():
    """Lines after those of `_langevin` that compare the drift of positions with the velocities."""
    return [
        "for i in range(half):",
        "    if rest[i] != 0.0 or abs(other[i] - tried[i] * one[i]) > 1e-9 * abs(other[i]):",
        f"        raise ModelError({NOT_VELOCITIES!r})",
    ]


NAMESPACE = {"ModelError": ModelError}

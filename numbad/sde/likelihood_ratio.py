"""Paths that do not move with what they are differentiated by, and weights that do: likelihood ratios.

A step of Euler and Maruyama is normal with mean y + h f and variance h g**2, so the density of a path is
known. The weight of a path is the ratio of that density to itself: 1, with the score of the path as its
derivative, which makes the derivative of the mean of payoff times weight that of the mean of the payoff,
however the payoff jumps. P. Glasserman, "Monte Carlo Methods in Financial Engineering" (2003), 7.3; for the
ratio, which is right to every order, J. Foerster et al., "DiCE" (2018), arXiv:1802.05098.
"""

from dataclasses import replace

from numba.core.registry import cpu_target

from numbad.compilation.caching import jit
from numbad.errors import ArgumentError, ModelError
from numbad.operators import stop_gradient
from numbad.sde import checks
from numbad.sde.arrays_of_a_path import own_args
from numbad.sde.brownian import block_increments
from numbad.sde.model_names import function_of
from numbad.sde.one_step import model_namespace
from numbad.sde.scheme import ADDITIVE, DIAGONAL, SCALAR
from numbad.sde.state_source import form_of
from numbad.sde.steps import StepWriter

_DETERMINISTIC = (
    "estimator='likelihood_ratio' needs noise in every component in every step; there is none here. Way out: "
    "estimator='pathwise'"
)
_ONLY_TUPLES = (
    "estimator='likelihood_ratio' takes states that are floats or tuples, with noise of its own in each "
    "component; here is {}. Way out: estimator='pathwise'"
)


def check_scheme(problem):
    """Raise ArgumentError for methods whose steps are not normal."""
    if problem.is_adaptive:
        raise ArgumentError(
            "estimator='likelihood_ratio' is for steps of one size, whose density is known: leave out rtol "
            "and atol of the solver"
        )
    if problem.scheme.name != "EulerMaruyama":
        raise ArgumentError(
            "estimator='likelihood_ratio' is for method='EulerMaruyama', whose steps are normal, not for "
            f"{problem.scheme.name!r}"
        )


def weighted_block(ensemble, y0, args, parameters):
    """`block(parameters)`: paths at all outputs, (len(ts), n, count), and their weights, (count,)."""
    problem = replace(ensemble.problem, dt=None)
    form = form_of(cpu_target.typing_context, problem, y0, args)
    _check(form)
    writer = StepWriter(form, problem.scheme, problem.calculus)
    namespace = model_namespace(problem, form)
    first = "first // 2" if ensemble.mirrored else "first"
    put = [f"ys[{{0}}, {c}, p] = {name}" for c, name in enumerate(writer.y)]
    lines = [
        "ends, cells, parts, starts, sizes = steps",
        f"ws, _ = block_increments(key, {first}, count, cells, parts, {ensemble.problem.dt!r}, channels, "
        f"False, {ensemble.mirrored})",
        f"ys, weights = np.empty((ends.size, {form.count}, count)), np.empty(count)",
        "given = args",
        "for p in range(count):",
        f"    args = {own_args(problem, y0, args, namespace, 'given')}",
        *("    " + line for line in checks.initial(form)),
        *("    " + line.format(0) for line in put),
        "    total = 0.0",
        "    for i in range(1, ends.size):",
        "        for k in range(ends[i - 1], ends[i]):",
        *("            " + line for line in _step(writer)),
        *("        " + line.format("i") for line in put),
        "    weights[p] = math.exp(total)",
        "return ys, weights",
    ]
    namespace.update(block_increments=block_increments, stop=stop_gradient)
    compiled = jit(error_model="numpy", nogil=True)
    return compiled(function_of(f"block({parameters})", lines, namespace))


def _check(form):
    fits = form.noise in (DIAGONAL, ADDITIVE) and not form.is_matrix
    if form.is_array:
        raise ModelError(_ONLY_TUPLES.format("an array"))
    if not fits and not (form.noise == SCALAR and form.count == 1):
        raise ModelError(_ONLY_TUPLES.format(f"noise={form.noise!r}"))


def _step(writer):
    """The lines of one step: the path goes on as if nothing moved it, its density does."""
    drift, diffusion = writer.drift("t", writer.y), writer.diffusion("t", writer.y)
    lines = ["t, h = starts[k], sizes[k]", *writer.lines]
    rows = zip(writer.y, drift, diffusion, strict=True)
    for c, (y, f, g) in enumerate(rows):
        lines += [
            f"f_{c}, g_{c} = {f}, {g}",
            f"if g_{c} == 0.0:",
            f"    raise ModelError({_DETERMINISTIC!r})",
            f"n_{c} = stop({y}) + h * stop(f_{c}) + stop(g_{c}) * ws[k, {c}, p]",
            f"z = (n_{c} - {y} - h * f_{c}) / (g_{c} * math.sqrt(h))",
            f"part = -0.5 * z * z - math.log(abs(g_{c}))",
            "total += part - stop(part)",
        ]
    return lines + [f"{y} = n_{c}" for c, y in enumerate(writer.y)]

"""Stages that are implicit in the drift: z = known + c f(t, z), by Newton's method.

Derivatives are those of the equation (implicit function theorem), in both modes and to every order.
"""

from numbad.compilation.caching import jit
from numbad.compilation.memo import built_once
from numbad.implicit.root import Root
from numbad.operators.operator_dispatcher import build
from numbad.sde.arrays_of_a_path import own_args
from numbad.sde.model_names import function_of, model_names
from numbad.sde.state_source import spread
from numbad.sde.steps import StepWriter

_TOLERANCES = "1e-14, 1e-11, 50"  # xtol, rtol and the most iterations, as `nd.root` takes them


class Stage(Root):
    """Its search gives NaN where it fails: one path among many must not stop the others."""

    name = "implicit_stage"
    is_quiet = True


@built_once(lambda problem, *_: problem.drift)
def solve_stage_of(problem, form):
    """`solve_stage(args, t, c, *start, *known)`: the z, from the components of a start."""
    compiled = jit(error_model="numpy")
    namespace = {"root": build(Stage(compiled(_equation(problem, form))))}
    start, known = form.names("y"), form.names("k")
    lines, given = [], (start[0], known[0])
    if form.is_tuple:
        given = "start", "known"
        for name, entries in zip(given, (start, known), strict=True):
            lines.append(f"{name} = np.empty({form.count})")
            lines += [f"{name}[{i}] = {entry}" for i, entry in enumerate(entries)]
    lines.append(f"z = root({given[0]}, (t, c, {given[1]}{form.arguments()}), None, {_TOLERANCES})")
    parts = "".join(f"z[{i}], " for i in range(form.components))
    lines.append(f"return ({parts})" if form.is_tuple else "return z")
    head = ", ".join(["args", "t", "c", *start, *known])
    return compiled(function_of(f"solve_stage({head})", lines, namespace))


def _equation(problem, form):
    """`equation(z, t, c, known, *args)`, zero at the solution."""
    whole = form.arguments() == ", args"
    names = ["args"] if whole else [f"arg_{k}" for k in range(len(spread(form.args)))]
    writer = StepWriter(form, problem.scheme, problem.calculus)
    if not whole:
        writer.lines.append(f"args = ({''.join(name + ', ' for name in names)})")
    namespace = model_names(problem, form)
    mine = own_args(problem, form.y0, form.args, namespace)
    if mine != "args":  # the search calls it as often as it likes
        writer.lines.append(f"args = {mine}")
    z = [f"z[{i}]" for i in range(form.count)] if form.is_tuple else ["z"]
    slopes = writer.drift("t", z)
    if form.is_tuple:
        residuals = [f"z[{i}] - known[{i}] - c * {slope}" for i, slope in enumerate(slopes)]
        writer.lines.append(f"out = np.empty({form.count})")
        writer.lines += [f"out[{i}] = {residual}" for i, residual in enumerate(residuals)]
        writer.lines.append("return out")
    else:
        writer.lines.append(f"return z - known - c * {slopes[0]}")
    head = ", ".join(["z", "t", "c", "known", *names])
    return function_of(f"equation({head})", writer.lines, namespace)

"""The code of one step of a method as a function of its own, and the names that the source of a step uses."""

from numbad.compilation.around import jit_around
from numbad.compilation.memo import built_once
from numbad.sde import checks
from numbad.sde.implicit_stage import solve_stage_of
from numbad.sde.levy_area import double_integrals
from numbad.sde.model_names import function_of, model_names
from numbad.sde.steps import StepWriter, write_step

# Among the arguments of a step: the place of the further arguments, and that of the state's first component.
STEP_ARGS, STEP_STATE = 2, 3


def model_namespace(problem, form):
    """The names that the source of a step uses."""
    implicit = problem.scheme.is_implicit
    stage = {"solve_stage": solve_stage_of(problem, form)} if implicit else {}
    more = {"double_integrals": double_integrals} if problem.scheme.needs_levy else {}
    return {**model_names(problem, form), **checks.NAMESPACE, **stage, **more}


@built_once(lambda problem, *_: problem.drift)
def step_of(problem, form, with_error=True):
    """`step(t, h, args, *state, *w, *areas)`: the state after it, and its error where it has an estimate."""
    writer = StepWriter(form, problem.scheme, problem.calculus)
    lines = write_step(problem.scheme, writer)
    found = list(writer.y)
    if problem.scheme.has_embedded_error and with_error:
        found += [
            " + ".join(f"({term})" for term in row) for row in zip(*writer.error, strict=True)
        ]
    lines = [*lines, f"return ({''.join(f'{x}, ' for x in found)})"]
    head = ", ".join(["t", "h", "args", *writer.y, *writer.w, *writer.areas])
    compiled = jit_around(problem.users, error_model="numpy", nogil=True)
    return compiled(function_of(f"step({head})", lines, model_namespace(problem, form)))

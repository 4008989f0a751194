"""One Runge-Kutta step and its interpolant, written out from the tableau."""

from numbad.ode.compiling import inlined
from numbad.ode.source import function_from_source, tuple_of
from numbad.ode.state import combine


def buffers_needed(tableau):
    """Rows of workspace: the stages, a stage's state, the new state, the old state."""
    return tableau.stages + 3


def make_step(tableau, evaluate):
    """The compiled `step(work, t, t_new, h, y, k1, structure, args) -> (y_new, stages)`."""
    last = tableau.stages - 1
    lines = []
    for i in range(1, tableau.stages):
        final = tableau.first_same_as_last and i == last
        state = "w" if final else "v"
        row = tableau.stages + (1 if final else 0)
        time = "t_new" if tableau.c[i] == 1.0 else f"t + {tableau.c[i]!r} * h"
        lines += [
            f"{state} = {_combination(row, tableau.a[i])}",
            f"k{i} = evaluate(work[{i}], {time}, {state}, structure, args)",
        ]
    if not tableau.first_same_as_last:
        lines.append(f"w = {_combination(tableau.stages + 1, tableau.b)}")
    lines.append(f"return w, {tuple_of(f'k{i}' for i in range(tableau.stages))}")
    head = "step(work, t, t_new, h, y, k0, structure, args)"
    return inlined(function_from_source(head, lines, evaluate=evaluate, combine=combine))


def _combination(row, coefficients):
    weights, stages = nonzero(coefficients)
    return f"combine(work[{row}], y, h, {weights}, {stages})"


def nonzero(coefficients, stages="k{}"):
    """The sources of the tuple of coefficients that are not zero, and of that of their stages."""
    used = [j for j, coefficient in enumerate(coefficients) if coefficient != 0.0]
    weights = tuple_of(repr(coefficients[j]) for j in used)
    return weights, tuple_of(stages.format(j) for j in used)


def make_error(tableau, mean_square):
    """The compiled `error(stages, h, y, w, rtol, atol)`: mean square of the scaled error."""
    weights, stages = nonzero(tableau.error, "stages[{}]")
    lines = [f"return h * h * mean_square({weights}, {stages}, y, w, rtol, atol)"]
    head = "error(stages, h, y, w, rtol, atol)"
    return inlined(function_from_source(head, lines, mean_square=mean_square))


def make_next_slope(tableau, evaluate):
    """The compiled `next_slope(work, t, y, stages, structure, args)`: dy/dt where a step ended."""
    if tableau.first_same_as_last:
        result = "stages[-1]"
    else:
        result = "evaluate(work[0], t, y, structure, args)"
    head = "next_slope(work, t, y, stages, structure, args)"
    return inlined(function_from_source(head, [f"return {result}"], evaluate=evaluate))


def make_interpolate(tableau):
    """The compiled `interpolate(buffer, theta, h, y, stages)`: the state at t + theta h."""
    used = [j for j, row in enumerate(tableau.interpolant) if any(row)]
    weights = tuple_of(horner(tableau.interpolant[j]) for j in used)
    stages = tuple_of(f"stages[{j}]" for j in used)
    lines = [f"return combine(buffer, y, h, {weights}, {stages})"]
    head = "interpolate(buffer, theta, h, y, stages)"
    return inlined(function_from_source(head, lines, combine=combine))


def horner(row):
    """The source of sum row[i] * theta**(i + 1)."""
    text = repr(row[-1])
    for coefficient in reversed(row[:-1]):
        text = f"({text}) * theta + {coefficient!r}"
    return f"({text}) * theta"

"""Which states are solved in another form than that of `y0`, and the solver for them."""

import numpy as np

from numbad.ode.complex_states import (
    ComplexParts,
    complex_form,
    is_complex_state,
    settings_of_parts,
)
from numbad.ode.events import event
from numbad.ode.matrix_states import is_matrix, matrix_form
from numbad.ode.nested_states import is_nested, nested_form
from numbad.ode.state_forms import solver_of_form, translated

CONTINUOUS = ("interpolating", "gauss", "quadrature", "backsolve")  # adjoints that are integrated


def has_other_form(y0, problem):
    """Whether a state of a type is one that `of_other_form` solves for.

    Implicit methods need a Jacobian by the parts of complex numbers, continuous adjoints integrate those, and
    sensitivities are by them.
    """
    own = not problem.tableau.is_implicit and problem.adjoint in ("auto", "discrete")
    return is_matrix(y0) or is_nested(y0) or (is_complex_state(y0) and not own)


def form_of(y0, inplace):
    """The form of a state of a type without duals: None for a vector, tuple or float of real numbers."""
    if is_matrix(y0):
        return matrix_form(y0)
    if is_nested(y0):
        return nested_form(y0, inplace)
    return complex_form(y0, inplace) if is_complex_state(y0) else None


def of_other_form(build, problem, settings, events, argtypes, keeps=False):
    """The jitted `solve(y0, ts, args)` for an initial state of another form, of types without duals.

    `build(problem, settings, events)` is the solver for the form that it takes; `keeps`, whether it returns
    events.
    """
    form = form_of(argtypes[0], problem.inplace)
    own = settings_of_parts(settings) if isinstance(form, ComplexParts) else settings

    def build_for(changed, events):
        return build(changed, own, events)

    return solver_of_form(form, build_for, problem, events, keeps, argtypes)


def is_solved_by_parts(y0, tableau):
    """Whether an array is a complex state, of which a method takes the real and imaginary parts."""
    return np.iscomplexobj(y0) and tableau.is_implicit


def by_parts(problem, settings, conditions, y0, args):
    """The problem, settings and conditions of events for the parts of a complex state, of given types."""
    problem, conditions = in_form(complex_form(y0, False), problem, conditions, y0, args)
    return problem, settings_of_parts(settings), conditions


def in_form(form, problem, conditions, y0, args):
    """The problem and the conditions of events for the state that the solver takes, of given types."""
    events = tuple(map(event, conditions))
    problem, events = translated(form, problem, events, y0, args)
    return problem, tuple(each.condition for each in events)

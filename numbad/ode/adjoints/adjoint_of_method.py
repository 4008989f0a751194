"""The adjoint of a step by the kind of its method."""

from numbad.errors import UnsupportedError
from numbad.ode.adjoints.explicit_adjoint import runge_kutta_adjoint
from numbad.ode.adjoints.implicit_adjoint import implicit_adjoint
from numbad.ode.adjoints.multistep_adjoint import multistep_adjoint
from numbad.ode.adjoints.rosenbrock_adjoint import rosenbrock_adjoint
from numbad.ode.adjoints.switching_adjoint import switching_adjoint
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.multistep import Multistep
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.switching import Switching
from numbad.ode.tableau import Tableau

# Class of methods -> function `(method, inplace)` that gives the `StepAdjoint` of one.
STEP_ADJOINTS = {
    Tableau: runge_kutta_adjoint,
    Rosenbrock: rosenbrock_adjoint,
    ImplicitTableau: implicit_adjoint,
    Multistep: multistep_adjoint,
    Switching: switching_adjoint,
}


def has_adjoint(method):
    """Whether the steps of a method can be gone back through."""
    return type(method) in STEP_ADJOINTS  # a subclass takes other steps


def step_adjoint(method, inplace):
    """The `StepAdjoint` of a method. Raises UnsupportedError where it has none."""
    if not has_adjoint(method):
        raise UnsupportedError(
            f"reverse mode through an ODE solver of method {method.name!r}, which has no adjoint. "
            'Way out: adjoint="forward" for the solver, mode="forward", or method="Rodas5P"'
        )
    return STEP_ADJOINTS[type(method)](method, inplace)

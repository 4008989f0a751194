"""The adjoint of a step by the kind of its method."""

from numbad.ode.adjoints.explicit_adjoint import runge_kutta_adjoint
from numbad.ode.adjoints.implicit_adjoint import implicit_adjoint
from numbad.ode.adjoints.multistep_adjoint import multistep_adjoint
from numbad.ode.adjoints.rosenbrock_adjoint import rosenbrock_adjoint
from numbad.ode.adjoints.switching_adjoint import switching_adjoint
from numbad.ode.adjoints.symplectic_adjoint import symplectic_adjoint
from numbad.ode.implicit_tableau import ImplicitTableau
from numbad.ode.multistep import Multistep
from numbad.ode.rosenbrock import Rosenbrock
from numbad.ode.switching import Switching
from numbad.ode.symplectic import Symplectic
from numbad.ode.tableau import Tableau

# Class of methods -> function `(method, inplace)` that gives the `StepAdjoint` of one.
STEP_ADJOINTS = {
    Tableau: runge_kutta_adjoint,
    Rosenbrock: rosenbrock_adjoint,
    ImplicitTableau: implicit_adjoint,
    Multistep: multistep_adjoint,
    Switching: switching_adjoint,
    Symplectic: symplectic_adjoint,
}


def step_adjoint(method, inplace):
    """The `StepAdjoint` of a method."""
    return STEP_ADJOINTS[type(method)](method, inplace)

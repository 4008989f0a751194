"""The adjoint of one step, which a method brings: how a sweep goes back through what it recorded."""

from numbad.errors import UnsupportedError


class StepAdjoint:
    """The compiled functions that undo a step of a method.

    The sweep knows of a recorded step when it began (`t`), how long it was (`h`), and the states at
    both ends. It carries the cotangent of the state, and calls, from the end of the step:

    `begin(work, h, lam) -> bars`: the cotangents of all that the new state, of cotangent `lam`, is
    put together from; what `bars` holds is the method's affair.

    `output(work, bars, theta, h, v) -> bars`: adds those for an output at `t + theta h` of cotangent `v`.

    `step(fun, pull, work, t, t_new, h, y, y_new, bars, seen, structure, args, shadows, totals) ->
    (lam, totals)`: computes the stages again and goes back through them, to the cotangent of `y`;
    `seen` tells whether there was any output within. Cotangents of numbers in the arguments are
    added to `totals`, those of arrays to `shadows`.

    `rows` is how many states' room they need in `work`; the sweep has three more behind them.
    """

    def __init__(self, rows, begin, output, step):
        self.rows, self.begin, self.output, self.step = rows, begin, output, step


STEP_ADJOINTS = {}
"""Class of methods -> function `(method, inplace)` that gives the `StepAdjoint` of one."""


def has_adjoint(method):
    """Whether the steps of a method can be gone back through."""
    from numbad.ode.adjoints import runge_kutta  # noqa: F401  it registers its own

    return type(method) in STEP_ADJOINTS  # a subclass takes other steps


def step_adjoint(method, inplace):
    """The `StepAdjoint` of a method. Raises UnsupportedError where it has none."""
    if not has_adjoint(method):
        raise UnsupportedError(
            f"reverse mode through an ODE solver of method {method.name!r}, which has no adjoint. "
            'Way out: adjoint="forward" for the solver, or mode="forward"'
        )
    return STEP_ADJOINTS[type(method)](method, inplace)

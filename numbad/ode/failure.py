"""Why an integration stops early: a status in compiled code, an exception or message outside."""

from numbad.errors import ArgumentError, DataError, IntegrationError, ModelError

RUNNING = 0
STEP_TOO_SMALL = 1
TOO_MANY_STEPS = 2
NOT_FINITE = 3
NOT_FINITE_AT_START = 4
NO_TIMES = 5
TIMES_NOT_MONOTONE = 6
TIMES_NOT_FINITE = 7
WRONG_TOLERANCES = 8
STEP_NOT_FINITE = 9
WRONG_MASS = 10
INCONSISTENT_START = 11
EVENT_WITHOUT_SLOPE = 12
EVENTS_ACCUMULATE = 13
WRONG_PATTERN = 14
WRONG_PATTERN_SIZE = 15
CONDITION_NOT_A_NUMBER = 16
ODD_STATE = 17
NOT_SEPARABLE = 18
WRONG_JACOBIAN = 22
NOT_MADE_CONSISTENT = 23
NOT_OF_INDEX_ONE = 24
STAGES_NOT_SOLVED = 41
STEPS_NOT_REPEATED = 40

# Added to a status where the problem looks stiff, and where an adjoint was integrated backwards.
LOOKS_STIFF, BACKWARDS = 64, 128

_REASONS = {
    STEP_TOO_SMALL: "the required step size is less than the spacing between numbers",
    TOO_MANY_STEPS: "more than max_steps steps would be needed to reach the end; gave up",
    NOT_FINITE: "the right-hand side gives NaN or infinity, however small the step",
    NOT_FINITE_AT_START: "the initial state or the right-hand side there is NaN or infinite",
    NO_TIMES: "ts is empty: give at least the initial time",
    TIMES_NOT_MONOTONE: "ts must increase (or decrease) strictly, which it does not",
    TIMES_NOT_FINITE: "ts must be finite, which it is not",
    STEP_NOT_FINITE: "a step of the size given ends in NaN or infinity; first_step may be too large",
    WRONG_TOLERANCES: "rtol and atol must be floats, or have one for each component of the state",
    WRONG_MASS: "mass_matrix must have a row and a column for each component of the state",
    EVENT_WITHOUT_SLOPE: (
        "the condition of an event does not change where it is zero (it must cross zero with a slope, as "
        "y[0] - 1.0 does and no comparison or rounding)"
    ),
    WRONG_PATTERN: (
        "the Jacobian of the right-hand side has entries that are not in jac_sparsity (nd.sparsity finds the "
        "pattern)"
    ),
    WRONG_JACOBIAN: (
        "jac does not return the Jacobian of the right-hand side, which this method rests on: jac[i, j] is "
        'the derivative of component i of fun by y[j] (jac="auto" finds it)'
    ),
    NOT_MADE_CONSISTENT: (
        "Newton's method finds no state near by that satisfies the algebraic equations: let y0, or the "
        "change at an event, be nearer to one"
    ),
    NOT_OF_INDEX_ONE: (
        "the algebraic equations do not determine the slope of the solution: the system is not of index 1"
    ),
    WRONG_PATTERN_SIZE: "jac_sparsity must have a row and a column for each component of the state",
    STAGES_NOT_SOLVED: (
        "Newton's method does not solve the equations of a step, however small it is; the right-hand side "
        "may jump there, or have no continuous derivative"
    ),
    CONDITION_NOT_A_NUMBER: "the condition of an event is NaN",
    ODD_STATE: "a symplectic method takes a state of two halves, positions and momenta; this one is odd",
    NOT_SEPARABLE: (
        "a symplectic method needs positions whose slopes depend on momenta alone, and momenta whose slopes "
        "depend on positions alone, which is not so here: take 'Vern9', for example"
    ),
    STEPS_NOT_REPEATED: (
        "steps taken again from a checkpoint came out otherwise than before: the right-hand side must give "
        "the same for the same arguments"
    ),
    EVENTS_ACCUMULATE: (
        "events follow each other without end, as the bounces of a ball that comes to rest (make one of them "
        "terminal, or end earlier)"
    ),
    INCONSISTENT_START: (
        "the initial state does not satisfy the algebraic equations: where a row of mass_matrix is zero, "
        "the right-hand side must be 0, which it is not (nd.ode.consistent_state finds what is missing)"
    ),
}

_STIFF = "the problem looks stiff there: take a method for stiff problems, such as 'Rodas5P'"


def describe(status, time):
    """What went wrong and at which time, as one line."""
    if status & BACKWARDS:
        return f"the adjoint, backwards in time: {describe(status & ~BACKWARDS, time)}"
    if status in (NO_TIMES, WRONG_TOLERANCES, WRONG_MASS, WRONG_PATTERN_SIZE):
        return _REASONS[status]
    reason = f"{_REASONS[status & ~LOOKS_STIFF]} at t = {time!r}"
    return f"{reason}; {_STIFF}" if status & LOOKS_STIFF else reason


class SolveError(IntegrationError):
    """An integration that did not reach the last time; `status` and `time` say why and where."""

    def __init__(self, status, time):
        self.status = status
        self.time = time
        super().__init__(describe(status, time))

    def __reduce__(self):
        return type(self), (self.status, self.time)


class TimesError(DataError):
    """Output times that are empty, not finite or not strictly monotone."""

    def __init__(self, status, time):
        self.status = status
        self.time = time
        super().__init__(describe(status, time))

    def __reduce__(self):
        return type(self), (self.status, self.time)


class SizeError(ArgumentError):
    """Tolerances by component, but not one for each; a mass matrix of another size than the state."""

    def __init__(self, status):
        self.status = status
        super().__init__(_REASONS[status])

    def __reduce__(self):
        return type(self), (self.status,)


def wrong_length(expected, actual):
    """What is wrong with a right-hand side's result that has another length than the state."""
    return (
        f"the right-hand side must return one value for each component of the state, "
        f"{expected} in all; it returns {actual}"
    )


class LengthError(ModelError):
    """A right-hand side whose result has another length than the state, found when it is called."""

    def __init__(self, expected, actual):
        self.expected = expected
        self.actual = actual
        super().__init__(wrong_length(expected, actual))

    def __reduce__(self):
        return type(self), (self.expected, self.actual)

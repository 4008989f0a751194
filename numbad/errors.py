"""Every exception and every class of warnings that a user of numbad can meet."""

import re

from numba.core.errors import TypingError

UNTYPED = "an object that Numba has no type for"
TYPED_INSTEAD = "pass the numbers in it in an array (to_numpy() of a pandas column) or a namedtuple"
_UNTYPED = (  # what Numba says of a value, what that is, and what to pass instead
    (
        r"Cannot determine Numba type of <class '((?:builtin_)?(?:function|method)\w*)'>",
        "an object of class {}",
        "pass it compiled, numba.njit(...)",
    ),
    (
        r"Cannot determine Numba type of <class '([\w.]+)'>",
        "an object of class {}",
        TYPED_INSTEAD,
    ),
    (r"Cannot type (empty list)", "an {}", "pass an array, np.array(...), or a tuple"),
    (r"Unsupported array dtype: (\S+)", "an array of {}", "convert it with .astype(np.float64)"),
    (
        r"Unsupported array type: numpy\.ma\.(Masked)Array",
        "a masked array",
        "pass .filled(...) of it, or its .data and its .mask",
    ),
)


class NumbadError(Exception):
    """Base class of everything that numbad raises on purpose."""

    def __init__(self, *args):
        super().__init__(*args)
        self.plain_message = str(args[0]) if args else ""  # Numba rewrites the message it carries


class UnsupportedError(NumbadError, TypingError):
    """A construct that cannot be differentiated, found when the function is compiled.

    A `TypingError` as well, so that Numba carries it unchanged out of nested compilations.
    """


class ArgumentError(NumbadError, TypingError, TypeError):
    """An argument of the wrong kind, such as an int where a derivative by a float is meant."""

    def patch_message(self, message):
        """Numba appends what it has no types for: here the sentence names it, where that is one thing."""
        found = []
        for pattern, known, way_out in _UNTYPED:
            found += [(what, known, way_out) for what in re.findall(pattern, message)]
            if found:
                break
        text = self.plain_message
        if len(found) == 1:
            ((what, known, way_out),) = found
            text = text.replace(UNTYPED, known.format(what)).replace(TYPED_INSTEAD, way_out)
        super().patch_message(text)


class RuleError(NumbadError, TypeError):
    """A derivative rule that cannot be used as given."""


class DataError(NumbadError, ValueError):
    """Unusable input data; the message names file, line and column where there are any."""


class SparsityError(NumbadError, ValueError):
    """A sparsity pattern that does not fit the function: of another shape, or with entries missing."""


class ModelError(NumbadError, ValueError):
    """A model (right-hand side, parameters, bounds) that is unusable as given."""


class IntegrationError(NumbadError, RuntimeError):
    """An ODE solve that could not reach its end; the message names the time at which it stopped."""


class ConvergenceError(NumbadError, RuntimeError):
    """An equation not solved, a minimum not found, an integral not as accurate as asked for."""


class SingularError(NumbadError, ArithmeticError):
    """A solution where the implicit function theorem does not hold: its Jacobian is singular there."""


class BoundsError(NumbadError, IndexError):
    """An index beyond an array that is differentiated: its adjoint would write to other memory."""

    last = None  # the index and the size; kept by the module whose code raises this

    def __init__(self, message=""):
        # Compiled code carries constant text only.
        index, size = self.last or ("?", "?")
        super().__init__(message.replace("{index}", str(index)).replace("{size}", str(size)))


class NonFiniteError(NumbadError, FloatingPointError):
    """A NaN or an infinity that an operation made of finite numbers, met in the debug mode."""

    values = ()  # the result and the operands; kept by the module whose code raises this

    def __init__(self, message=""):
        for k, value in enumerate(self.values):  # compiled code carries constant text only
            message = message.replace(f"{{{k}}}", repr(value))
        super().__init__(message)


class DeviceError(NumbadError, RuntimeError):
    """A GPU that is missing, too old, or without room for what it is asked to hold."""


class TapeLimitError(NumbadError, MemoryError):
    """A reverse sweep that needs to record more than `NUMBAD_TAPE_LIMIT` allows."""

    limit = None  # bytes; kept by the module that owns the limit

    def __init__(self, message=""):
        # Compiled code carries constant text only, and the limit is that of the running process.
        super().__init__(message.replace("{limit}", str(self.limit)))


class NumbadWarning(UserWarning):
    """Base class of what numbad warns of: the result stands, and there is something to know about it."""


class ControlDependenceWarning(NumbadWarning):
    """A derivative that is zero: what is differentiated acts through comparisons, or rounded numbers, alone.

    As by the parameters of a bisection, each step of which picks one half of an interval: the
    comparison says which, and nothing that is computed with it flows into the result. Or by the time
    at which the right-hand side of an ODE switches: `if t > dose_time`. Or of a result that is rounded to
    digits, `round(x, 12)`: it is made of steps.
    """


class CacheWarning(NumbadWarning):
    """Compiled code on disk that is not used: others than the user may have written it."""

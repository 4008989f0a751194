"""`check_grads`: derivatives against the function itself, numerically."""

import warnings

import numpy as np
from numba.core import ir
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from .errors import ArgumentError, NumbadError, UnsupportedError
from .ir.function import is_expr
from .ir.untyped import constant_of, untyped
from .operators import jvp, stop_gradient, vjp
from .operators.operator_dispatcher import as_dispatcher

MODES = ("forward", "reverse")
NEARLY = 1e-2  # what is off by less than this fraction is no wrong rule for sure
SINGLE = 1e-3  # the least tolerance where something is in single precision
MANY = 16  # inputs that are checked one by one; beyond, random directions are
_SHRINK = 1.6
_STEPS = 12
_LEAST = 0.1  # what an input is moved in proportion to, at least
_ROUNDING, _ROUNDING_SINGLE = 1e-10, 1e-4  # what values may differ by that are derivatives


class GradientError(NumbadError, AssertionError):
    """A derivative that disagrees with the function."""


class RoughError(GradientError):
    """A function that is too rough for its differences to decide."""


def check_grads(f, args, *, modes=MODES, order=2, rtol=1e-6, atol=1e-8, seed=0):
    """Check the derivatives of a function against finite differences of the function.

    The reference is Richardson extrapolation of central differences (Ridders, "Accurate computation
    of F'(x) and F'(x)F''(x)", Adv. Eng. Software 4, 1982), which carries an estimate of its own
    error. Up to 16 inputs are checked one by one, more along random directions; the cotangents of
    reverse mode likewise, up to 16 numbers of the result one by one. Second order checks the
    derivative of the derivative in the same way: forward mode through forward mode, and forward
    mode through reverse mode.

    Parameters
    ----------
    f : function or Numba dispatcher
        Smooth near `args`; returns a float, an array, or a tuple of these.
    args : tuple
        All arguments; floats, float arrays and tuples of these are differentiated by.
    modes : tuple of {"forward", "reverse"}
        Which modes to check; both by default.
    order : {1, 2}
    rtol, atol : float
        Largest difference, relative to the largest derivative of the same kind, and absolute; 1e-3 at
        least in single precision, where differences are those of the function in double precision, if it
        takes that.
    seed : int
        Of the random directions.

    Raises
    ------
    GradientError
        Where a derivative is wrong, the value computed with derivatives is not the function's, or
        the function is too rough for the reference to decide.
    UnsupportedError
        Where a mode that is to be checked refuses the function.

    Examples
    --------
    >>> import math, numbad as nd
    >>> nd.check_grads(lambda x, y: math.sin(x) * y**3, (0.7, 1.2))
    """
    _check_options(args, modes, order)
    _check(as_dispatcher("nd.check_grads", f), _Flat(args), modes, order, rtol, atol, seed)


def _check(f, flat, modes=MODES, order=1, rtol=1e-6, atol=1e-8, seed=0):
    """What `check_grads` does, by the arguments that are differentiated by."""
    if flat.size == 0:
        raise ArgumentError("check_grads: no float among the arguments")
    example = f(*flat.moved(0.0))
    if not any(True for _ in _parts(example)):
        raise ArgumentError("check_grads: no float in the result of the function")
    if _is_single((flat.args, example)):
        rtol, atol = max(rtol, SINGLE), max(atol, SINGLE)
        flat.widen(f)
    rng = np.random.default_rng(seed)
    if "forward" in modes:
        first = jvp(f, flat.argnums)
        for direction in flat.directions(rng):
            _check_first(f, first, flat, direction, rtol, atol)
            if order == 2:
                _check_second(f, first, flat, direction, rng, rtol, atol)
    if "reverse" in modes:
        _check_reverse(f, flat, rng, order, rtol, atol)


def compare_operator(operator, args):
    """Compare the derivatives that an operator is made of with differences.

    A warning tells of what these cannot decide: a function that is too rough, or draws random numbers, and
    derivatives that are off by less than 1 %, as those of solutions within an error tolerance are.
    """
    if operator.name == "batch":
        return  # of arrays of what the functions take
    given = operator.given(args)
    inner = getattr(operator.f, "operator", None)
    if inner is not None and not inner.takes_tuples:
        compare_operator(inner, given)
    try:
        _compare_modes(operator, given)
    except _UndecidedError as undecided:
        warnings.warn(str(undecided), stacklevel=4)


class _UndecidedError(Exception):
    """What differences cannot decide."""


def _compare_modes(operator, given):
    f, flat = operator.f, _Flat(given, _moved_by(operator, given))
    try:
        draws = _draws(f, flat)
    except ArgumentError:
        return  # it has arguments of other kinds
    if draws:
        raise _UndecidedError(
            f"{operator.name}: the function gives another value each time; nothing is compared"
        )
    for mode in _modes_of(operator):
        try:
            _compare_mode(f, flat, mode)
        except (ArgumentError, UnsupportedError):
            pass  # of other arguments than the operator's
        except RoughError as error:
            raise _UndecidedError(f"{operator.name}: {error}") from None


def _compare_mode(f, flat, mode):
    try:
        _check(f, flat, (mode,))
    except RoughError:
        raise
    except GradientError as error:
        raise _UndecidedError(f"{error}. {_excuse(f, flat, mode, error)}") from None


def _moved_by(operator, given):
    """The arguments with floats that an operator differentiates by; None where these are all there are."""
    floats = {k for k, value in enumerate(given) if any(True for _ in _floats(value))}
    asked = floats.intersection(getattr(operator, "argnums", floats))
    return None if asked == floats else tuple(sorted(asked))


def _modes_of(operator):
    """The modes that an operator has derivatives by."""
    if operator.name in _MODES_OF:
        return _MODES_OF[operator.name]
    if not hasattr(operator, "choice"):
        return ("forward",)
    used = sorted(operator.choice.used())  # none, where the code comes from the disk
    return used or MODES


_MODES_OF = {
    **dict.fromkeys(["vjp", "cuda.grad", "cuda.value_and_grad"], ("reverse",)),
    **dict.fromkeys(["hvp", "grad_and_hvp"], MODES),
}


def _excuse(f, flat, mode, error):
    """Why a derivative may be right that differences contradict; raises the error where nothing says so."""
    if _stops(f):
        return "The function calls nd.stop_gradient, which differences know nothing of"
    try:
        _check(f, flat, (mode,), rtol=NEARLY, atol=NEARLY)
    except GradientError:
        if not _has_kink(f, flat):
            raise error from None
        return "The function has a kink here, where derivatives are of one side (docs/kinks.md)"
    return "A tolerance may leave that: of a solver, of an iteration"


def _stops(dispatcher):
    """Whether a function, or one that it calls, holds something constant by `stop_gradient`."""
    return any(called is stop_gradient for called in _called(dispatcher))


def _differentiates(dispatcher):
    """Whether a function is a derivative, or calls one: its derivative adds in another order."""
    return any(hasattr(called, "operator") for called in _called(dispatcher))


def _called(dispatcher, seen=None):
    """A dispatcher and what it calls, directly or not: dispatchers, operators, other functions."""
    seen = set() if seen is None else seen
    yield dispatcher
    while hasattr(dispatcher, "operator"):
        dispatcher = dispatcher.operator.f
    if dispatcher in seen:
        return
    seen.add(dispatcher)
    func_ir = untyped(dispatcher)
    calls = [
        constant_of(func_ir, s.value.func)
        for block in func_ir.blocks.values()
        for s in block.find_insts(ir.Assign)
        if is_expr(s.value, "call")
    ]
    callees = [called for called in calls if isinstance(called, Dispatcher)]
    yield from (called for called in calls if not isinstance(called, Dispatcher))
    callees += [fun for solve in callees for fun, _ in getattr(solve, "handed_args", ())]
    for called in callees:
        yield from _called(called, seen)


def _draws(f, flat):
    """Whether a function gives another value when it is called again."""
    try:
        first, second = (_result(f(*flat.moved(0.0))) for _ in range(2))
    except (TypeError, ValueError):  # it returns what is no number
        return False
    return not np.array_equal(first, second, equal_nan=True)


def _has_kink(f, flat):
    """Whether a function goes on in one direction otherwise than it came from there.

    What it bends by within a step goes with its square where the function is smooth, else with the step.
    """
    middle = _result(f(*flat.moved(0.0)))

    def bend(step):
        there, opposite = _near(lambda t: _result(f(*flat.moved(t * step))), 1.0)
        return np.abs(there + opposite - 2.0 * middle)

    for direction in flat.directions(np.random.default_rng(0)):
        size = 1e-5 * flat.scale(direction)
        long, short = bend(size * direction), bend(0.5 * size * direction)
        if np.any((short > 0.4 * long) & (long > 1e-3 * size * (1.0 + np.abs(middle)))):
            return True
    return False


def _check_options(args, modes, order):
    if not isinstance(args, tuple | list):
        raise ArgumentError(f"check_grads: args is a tuple of all arguments, not {args!r}")
    if isinstance(modes, str) or not modes:
        raise ArgumentError(f'check_grads: modes is a tuple of "forward", "reverse", not {modes!r}')
    for mode in modes:
        if mode not in MODES:
            raise ArgumentError(f'check_grads: modes holds "forward" and "reverse", not {mode!r}')
    if order not in (1, 2):
        raise ArgumentError(f"check_grads: order is 1 or 2, not {order!r}")


class _Flat:
    """Arguments of any structure, those of `argnums` as a vector of their floats, and back."""

    def __init__(self, args, argnums=None):
        self.args, self.argnums = tuple(args), argnums
        self.x = np.array(list(_floats(self._asked(self.args))), dtype=np.float64)
        self.size = self.x.size
        self.wide = self  # the same in double precision, for differences

    def widen(self, f):
        """Let differences be those of a function in double precision, where it takes that."""
        wide = _Flat(_in_double(self.args), self.argnums)
        try:
            f(*wide.moved(0.0))
        except (TypeError, NumbaError, NumbadError):  # as of signatures that it was given
            return
        self.wide = wide

    def _asked(self, args):
        return args if self.argnums is None else tuple(args[k] for k in self.argnums)

    def moved(self, step):
        """The arguments with `step` added to their floats."""
        numbers = iter(self.x + step)
        if self.argnums is None:
            return _rebuild(self.args, numbers, constants=True)
        return tuple(
            _rebuild(value, numbers, constants=True) if k in self.argnums else _copied(value)
            for k, value in enumerate(self.args)
        )

    def tangents(self, direction):
        """A direction in the structure of the arguments."""
        return _rebuild(self._asked(self.args), iter(direction), constants=False)

    def directions(self, rng):
        """The inputs one by one; of many, random ones, in which each is moved by as much as it is large."""
        for direction in _directions(self.size, rng):
            if self.size > MANY:
                sizes = np.maximum(np.abs(self.x), _LEAST)
                direction *= sizes / np.max(sizes)
            yield direction

    def scale(self, direction):
        """How large the inputs are that a direction moves."""
        return max(float(np.max(np.abs(self.x[direction != 0.0]))), _LEAST)


def _in_double(value):
    if isinstance(value, tuple):
        members = [_in_double(member) for member in value]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if _is_float_array(value):
        return value.astype(np.float64)
    return float(value) if isinstance(value, np.floating) else value


def _is_single(value):
    """Whether there is something in single precision in a value of any structure."""
    if isinstance(value, tuple):
        return any(map(_is_single, value))
    return getattr(value, "dtype", None) in (np.float32, np.complex64)


def _is_float_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


def _floats(value):
    if isinstance(value, tuple):
        for member in value:
            yield from _floats(member)
    elif _is_float_array(value):
        yield from value.ravel().tolist()
    elif isinstance(value, float | np.floating):
        yield float(value)


def _rebuild(value, numbers, constants):
    if isinstance(value, tuple):
        members = [_rebuild(member, numbers, constants) for member in value]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if _is_float_array(value):
        count = value.size
        flat = np.array([next(numbers) for _ in range(count)], dtype=value.dtype)
        return flat.reshape(value.shape)
    if isinstance(value, float | np.floating):
        return type(value)(next(numbers))
    return _copied(value) if constants else None


def _copied(value):
    """A value whose arrays are its own, which functions may write to."""
    if isinstance(value, tuple):
        members = map(_copied, value)
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    return value.copy() if isinstance(value, np.ndarray) else value


def _directions(size, rng):
    if size <= MANY:
        yield from np.eye(size)
    else:
        for _ in range(MANY):
            direction = rng.standard_normal(size)
            yield direction / np.linalg.norm(direction)


def _result(value):
    """A result of any structure as one vector."""
    if isinstance(value, tuple):
        parts = [_result(member) for member in value]
        return np.concatenate(parts) if parts else np.zeros(0)
    return np.atleast_1d(
        np.asarray(value, dtype=complex if np.iscomplexobj(value) else float)
    ).ravel()


def _check_value(f, flat, value):
    plain, found = _result(f(*flat.moved(0.0))), _result(value)
    if np.array_equal(found, plain, equal_nan=True):
        return
    rounding = _ROUNDING_SINGLE if _is_single((flat.args, value)) else _ROUNDING
    allowed = {"rtol": rounding, "atol": rounding * np.max(np.abs(plain), initial=0.0)}
    near = found.shape == plain.shape and np.allclose(found, plain, equal_nan=True, **allowed)
    if not (near and _differentiates(f)):
        raise GradientError(
            f"the value computed with derivatives, {value}, is not that of the function, {plain}"
        )


def _check_first(f, first, flat, direction, rtol, atol):
    value, tangent = first(flat.moved(0.0), flat.tangents(direction))
    _check_value(f, flat, value)
    reference = _ridders(lambda t: _result(f(*flat.wide.moved(t * direction))), flat, direction)
    _compare("derivative", _result(tangent), *reference, direction, rtol, atol)


def _check_second(f, first, flat, direction, rng, rtol, atol):
    along = rng.standard_normal(flat.size)
    along /= np.linalg.norm(along)
    tangents, zeros = flat.tangents(direction), flat.tangents(np.zeros(flat.size))
    _, (_, found) = jvp(first)((flat.moved(0.0), tangents), (flat.tangents(along), zeros))

    wide = flat.wide.tangents(direction)

    def slope(t):
        return _result(first(flat.wide.moved(t * along), wide)[1])

    reference = _ridders(slope, flat, along)
    _compare("second derivative", _result(found), *reference, direction, rtol, atol)


def _check_reverse(f, flat, rng, order, rtol, atol):
    """The cotangents of the arguments, for cotangents of the result one by one or at random."""
    pull, example = vjp(f, flat.argnums), f(*flat.moved(0.0))
    wide = example if flat.wide is flat else f(*flat.wide.moved(0.0))
    weights = np.array(list(_directions(len(list(_parts(example))), rng)))
    rows = []
    for weight in weights:
        value, cotangents = pull(flat.moved(0.0), _cotangent(example, iter(weight)))
        _check_value(f, flat, value)
        rows.append(list(_floats(cotangents)))
    for direction in flat.directions(rng):

        def along(t, direction=direction):
            return np.array(list(_parts(f(*flat.wide.moved(t * direction)))))

        reference, error = _ridders(along, flat, direction)
        reference, error = weights @ reference, np.abs(weights) @ error
        found = np.array(rows) @ direction
        _compare("derivative in reverse mode", found, reference, error, direction, rtol, atol)
    if order == 2:
        for weight in weights:
            _check_forward_over_reverse(pull, flat, (example, wide), weight, rng, rtol, atol)


def _check_forward_over_reverse(pull, flat, examples, weight, rng, rtol, atol):
    along = rng.standard_normal(flat.size)
    along /= np.linalg.norm(along)
    seed, none = (_cotangent(examples[0], iter(w)) for w in (weight, 0.0 * weight))
    wide = _cotangent(examples[1], iter(weight))
    _, (_, found) = jvp(pull)((flat.moved(0.0), seed), (flat.tangents(along), none))

    def slope(t):
        return np.array(list(_floats(pull(flat.wide.moved(t * along), wide)[1])))

    reference = _ridders(slope, flat, along)
    found = np.array(list(_floats_like(flat.args, found)))
    _compare("second derivative in reverse mode", found, *reference, along, rtol, atol)


def _floats_like(example, value):
    """The members of a value in the places of the floats of another: the tangent of an int is a float."""
    if isinstance(example, tuple):
        for member, other in zip(example, value, strict=True):
            yield from _floats_like(member, other)
    elif any(True for _ in _floats(example)):
        yield from _floats(value)


def _parts(value):
    """The floats of a result, two for a complex number."""
    if isinstance(value, tuple):
        for member in value:
            yield from _parts(member)
    elif isinstance(value, np.ndarray) and value.dtype.kind == "c":
        for number in value.ravel():
            yield from (number.real, number.imag)
    elif isinstance(value, complex | np.complexfloating):
        yield from (value.real, value.imag)
    else:
        yield from _floats(value)


def _cotangent(value, numbers):
    """A cotangent of a result; of a complex one, so that real and imaginary part count as floats."""
    if isinstance(value, tuple):
        members = [_cotangent(member, numbers) for member in value]
        return type(value)(*members) if hasattr(value, "_fields") else tuple(members)
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        found = [_cotangent(number, numbers) for number in value.ravel()]
        return np.array(found, dtype=value.dtype).reshape(value.shape)
    if isinstance(value, complex | np.complexfloating):
        return type(value)(complex(next(numbers), -next(numbers)))
    return type(value)(next(numbers)) if isinstance(value, float | np.floating) else None


def _near(phi, step):
    """A function of a float at both sides of 0; RoughError where it raises there."""
    try:
        with np.errstate(all="ignore"):
            return phi(step), phi(-step)
    except (NumbaError, ArgumentError, UnsupportedError):  # of what is compiled
        raise
    except Exception as error:
        raise RoughError(
            "the function cannot be compared with differences: near its arguments it raises "
            f"{type(error).__name__}: {error}"
        ) from error


def _ridders(phi, flat, direction):
    """The derivative of a vector function of a float at 0, and an estimate of its error."""
    step = 0.1 * flat.scale(direction)
    table, best, error, raised = [], None, None, None
    for _ in range(_STEPS):
        try:
            ahead, behind = _near(phi, step)
        except RoughError as rough:  # nearer to 0 it may not raise
            raised, table = rough, []
            step /= _SHRINK**4
            continue
        with np.errstate(all="ignore"):
            row = [(ahead - behind) / (2.0 * step)]
            factor = _SHRINK**2
            for previous in table[-1] if table else []:
                row.append((row[-1] * factor - previous) / (factor - 1.0))
                factor *= _SHRINK**2
            for j in range(1, len(row)):
                last = np.abs(row[j] - row[j - 1]), np.abs(row[j] - table[-1][j - 1])
                estimate = np.where(np.isfinite(np.maximum(*last)), np.maximum(*last), np.inf)
                if best is None:
                    best, error = row[j], estimate
                else:
                    better = estimate < error
                    best = np.where(better, row[j], best)
                    error = np.where(better, estimate, error)
        table.append(row)
        step /= _SHRINK
    if best is None:
        raise raised
    return best, error


def _compare(what, found, reference, error, direction, rtol, atol):
    if not np.all(np.isfinite(reference)):
        raise RoughError(
            f"the {what} along {_told(direction)} cannot be checked: differences of the function are not "
            "finite"
        )
    allowed = atol + rtol * np.max(np.abs(reference), initial=0.0)
    undecided = ~(error <= allowed)  # as is what is not a number
    if np.any(undecided):
        raise RoughError(
            f"the {what} along {_told(direction)} cannot be checked: differences of the function leave an "
            f"uncertainty of {np.max(error):.1e} where {allowed:.1e} is asked for. The function is "
            "not smooth here, or rtol and atol are too small"
        )
    off = np.abs(found - reference)
    if not np.all(off <= allowed):
        k = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise GradientError(
            f"the {what} along {_told(direction)} is {found[k]} at position {k} of the result; "
            f"differences of the function give {reference[k]} +- {error[k]:.1e}"
        )


def _told(direction):
    """A direction, shortened where it is long."""
    return np.array2string(direction, threshold=MANY, edgeitems=3)

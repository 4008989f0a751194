"""What the derivative of a probe shows: differentiated, constant, refused, or wrong.

The oracle is the probe's own Python code under the interpreter: central differences of eighth order,
whose error (about 1e-11) is far below the tolerance.
"""

import contextlib
import io
import warnings

import numba
import numpy as np

import numbad as nd
from numbad.source import define

from .probe import VALUES

DIFFERENTIATED, CONSTANT, REFUSED, WRONG = "differentiated", "constant", "refused", "WRONG"
_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # Fornberg (1988), table 1
_STEP = 0.002


def statuses(probes, mode):
    """The status of each probe, as a list; grouped ones are compiled together."""
    grouped = [p for p in probes if p.grouped]
    found = dict(zip(grouped, _together(grouped, mode), strict=True)) if len(grouped) > 1 else {}
    return [found[p] if p in found else status(p, mode) for p in probes]


def status(probe, mode):
    """The status of one probe."""
    return _judge(probe, lambda: _derivative(probe.function, mode, probe.arguments()))


def _together(probes, mode):
    """As `statuses`, from one compiled function that is told by an int which probe to run."""
    names = sorted({name for p in probes for name in p.parameters})
    if len({p.parameters[0] for p in probes}) > 1:
        raise ValueError("probes of one group differentiate by one argument")
    first = probes[0].parameters[0]
    order = [first, *(name for name in names if name != first)]
    lines = [f"def together({', '.join(order)}, which):"]
    for k, p in enumerate(probes):
        lines += [f"    if which == {k}:", f"        return probe{k}({', '.join(p.parameters)})"]
    lines += ["    return 0.0", ""]
    namespace = {f"probe{k}": numba.njit(p.function) for k, p in enumerate(probes)}
    together = define("\n".join(lines), namespace)

    def one(k, probe):
        try:
            return _judge(probe, lambda: call(*(VALUES[name]() for name in order), k))
        except (nd.UnsupportedError, nd.ArgumentError):
            return status(probe, mode)

    try:
        with _quiet():
            call = nd.value_and_grad(together, mode=mode)
            call(*(VALUES[name]() for name in order), 0)
    except Exception:  # one of them is refused: each by itself
        return [status(p, mode) for p in probes]
    return [one(k, p) for k, p in enumerate(probes)]


def _derivative(function, mode, args):
    return nd.value_and_grad(function, mode=mode)(*args)


def _judge(probe, derivative):
    with _quiet():
        try:
            value, gradient = derivative()
        except (nd.UnsupportedError, nd.ArgumentError):
            return REFUSED
        except Exception as error:
            return f"{WRONG}: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        try:
            expected_value, expected = expectation(probe, value)
        except Exception as error:  # a mistake of the probe's
            return f"{WRONG}: {type(error).__name__}: {error}"
    if not _close(value, expected_value, probe.rtol):
        return f"{WRONG}: value {value}, not {expected_value}"
    if not _close(flat(gradient), expected, probe.rtol):
        return f"{WRONG}: derivative {flat(gradient)}, not {expected}"
    return CONSTANT if probe.constant else DIFFERENTIATED


def _close(found, expected, rtol):
    return np.shape(found) == np.shape(expected) and np.allclose(
        found, expected, rtol=rtol, atol=1e-2 * rtol
    )


@contextlib.contextmanager
def _quiet():
    """Neither warnings of Numba's nor what a probe prints."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        with np.errstate(all="ignore"):
            yield


def checked(probe):
    """Raise AssertionError where Numba itself does not run a probe as plain Python does."""
    with _quiet():
        try:
            value = numba.njit(probe.function)(*probe.arguments())
        except Exception as error:
            raise AssertionError(f"{probe.feature}: not supported by Numba: {error}") from error
        if not probe.seeded and not _close(value, probe.plain()(*probe.arguments()), probe.rtol):
            raise AssertionError(f"{probe.feature}: {value} from Numba, not as in plain Python")


# -- the oracle ------------------------------------------------------------------------------


def expectation(probe, value=None):
    """Value and gradient of a probe under the interpreter; the gradient as a vector.

    Where plain Python draws other random numbers, the primal stands for it, compiled by Numba; for a
    constant its value is given and the gradient follows from it.
    """
    if probe.seeded and probe.constant and value:
        return value, _of_product(probe, value)
    plain = numba.njit(probe.function) if probe.seeded else probe.plain()
    expected = differences(probe.oracle or plain, probe.arguments)
    value = plain(*probe.arguments())
    if probe.constant:
        if value == 0.0 or not np.allclose(expected, _of_product(probe, value), rtol=probe.rtol):
            raise AssertionError(f"no product of a constant: {value}, {expected}")
    elif not np.any(expected):
        raise AssertionError("the probe's derivative is zero and shows nothing")
    return value, expected


def _of_product(probe, value):
    """The gradient of `factor * constant`."""
    first = probe.arguments()[0]
    numbers = flat(first)
    gradient = np.zeros(numbers.size)
    k = {0: 0, 1: 1}.get(np.ndim(first), numbers.size // 2)
    gradient[k] = value / numbers[k]
    return gradient


def flat(x):
    """The floats of an argument or of its gradient, as a vector."""
    if isinstance(x, np.void):
        return np.array([x[name] for name in x.dtype.names if x.dtype[name].kind == "f"])
    if isinstance(x, np.ndarray) and x.dtype.names:
        return np.concatenate([flat(row) for row in x])
    if isinstance(x, tuple):
        return np.concatenate([flat(v) for v in x])
    return np.atleast_1d(np.asarray(x, float)).ravel()


def _moved(x, k, step):
    """The argument with its float number `k` moved."""
    if isinstance(x, tuple):
        items = [v + step if j == k else v for j, v in enumerate(x)]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, float):
        return x + step
    if x.dtype.names:
        names = [name for name in x.dtype.names if x.dtype[name].kind == "f"]
        moved = x.copy()
        row = moved if isinstance(x, np.void) else moved[k // len(names)]
        row[names[k % len(names)]] += step
        return moved
    moved = x.copy()
    moved.flat[k] += step
    return moved


def differences(function, arguments):
    """The gradient of a function by its first argument, in central differences of eighth order."""
    first, *_ = arguments()
    gradient = np.zeros(flat(first).size)
    for k in range(gradient.size):
        for multiple, weight in _STENCIL:
            for sign in (1, -1):
                step = sign * multiple * _STEP
                fresh, *others = arguments()
                gradient[k] += sign * weight * function(_moved(fresh, k, step), *others) / _STEP
    return gradient

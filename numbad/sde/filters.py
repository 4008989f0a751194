"""Kalman filters for equations that are observed in part and with noise: `nd.fit.fit_sde` takes them."""

import inspect
from collections import namedtuple
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numba import typeof
from numba.core.registry import cpu_target

from numbad.caching import jit
from numbad.errors import ArgumentError, DataError, ModelError
from numbad.memo import built_once
from numbad.ode.compiling import as_dispatcher
from numbad.sde.filter_source import filtered_of, log_likelihood_of
from numbad.sde.model_names import function_of
from numbad.sde.state_source import returned

_FUNCTIONS = "drift", "diffusion", "observe", "noise", "mean", "spread"
_STATIC = "noise", "mean", "spread"  # which take the parameters alone

Filtered = namedtuple("Filtered", "mean cov loglik")
Filtered.__doc__ = """What a filter gives: the mean (k, n) and the covariance (k, n, n) of the state at each
observation, given it and those before, and the log-likelihood of all."""


@dataclass(frozen=True)
class KalmanFilter:
    """A filter, from `extended_kalman` or `unscented_kalman`; its functions are compiled."""

    drift: object
    diffusion: object
    observe: object
    noise: object
    mean: object
    spread: object
    dt: float
    by_points: bool
    sees_all: bool  # what is observed is the state

    @property
    def names(self):
        """The names of the parameters, those of the drift."""
        return tuple(inspect.signature(self.drift.py_func).parameters)[2:]

    def log_likelihood(self, t, y, start):
        """The compiled `log_likelihood(t, y, *parameters)`; raises where functions do not fit the data."""
        sizes = _sizes(self, float(t[0]), y.shape[1], start)
        return _compiled(self, tuple(sizes.items()))

    def filtered(self, t, y, params):
        """Run the filter over observations: `Filtered(mean, cov, loglik)`.

        t, shape (k,), increases; y, shape (k,) or (k, m), is NaN where nothing was observed; `params` is a
        mapping of all parameters (`params` of a fit, say).
        """
        times, values = series(t, y)
        start = [float(params[name]) for name in self.names]
        sizes = _sizes(self, float(times[0]), values.shape[1], start)
        return Filtered(*_states(self, tuple(sizes.items()))(times, values, *start))


def extended_kalman(drift, diffusion, *, mean, spread, noise, observe=None, dt):
    """An extended Kalman filter, as a likelihood for `nd.fit.fit_sde`.

    Between observations mean and covariance of the state follow the drift, linear near the mean (its Jacobian
    is exact); at an observation they are conditioned on it. Exact for linear equations, but for the steps.

    Parameters
    ----------
    drift, diffusion : function or Numba dispatcher
        `drift(t, y, *parameters)` returns n numbers for the state y, an array of n; `diffusion(t, y,
        *parameters)` returns n numbers (noise of its own in each component) or a matrix (n, q), a tuple of
        tuples. In Ito's calculus.
    mean, spread : sequence of floats, or function of the parameters
        Of the state at the first observation, before it is seen: mean and standard deviations, n each.
    noise : sequence of floats, or function of the parameters
        Standard deviations of what is observed, in its units, m.
    observe : function or Numba dispatcher, optional
        `observe(t, y, *parameters)` returns the m numbers that are observed, before noise; by default the
        whole state.
    dt : float
        The largest step between observations, in units of t; the method is of order 4.

    Returns
    -------
    KalmanFilter

    Raises
    ------
    ArgumentError, ModelError
        for what is no function or no sequence; by `fit_sde`, for functions that return other shapes.

    Notes
    -----
    A. H. Jazwinski, "Stochastic Processes and Filtering Theory" (1970), chapter 8; S. Sarkka, A. Solin,
    "Applied Stochastic Differential Equations" (2019), algorithm 10.33.

    Examples
    --------
    An Ornstein-Uhlenbeck process, seen through noise:

    >>> import numpy as np
    >>> import numbad as nd
    >>> from numbad.sde import filters
    >>> rng, x, y = np.random.default_rng(1), 0.0, []
    >>> for _ in range(200):
    ...     x = 0.9 * x + 0.4 * rng.normal()
    ...     y.append(x + 0.2 * rng.normal())
    >>> seen = filters.extended_kalman(
    ...     lambda t, y, rate, vol, error: (-rate * y[0],), lambda t, y, rate, vol, error: (vol,),
    ...     mean=(0.0,), spread=(1.0,), noise=lambda rate, vol, error: (error,), dt=0.5)
    >>> fit = nd.fit.fit_sde(seen, np.arange(200.0), y, {"rate": 0.2, "vol": 0.3, "error": 0.3})
    >>> bool(abs(fit.params["rate"] + np.log(0.9)) < 3.0 * fit.stderr["rate"])
    True
    """
    return _filter(drift, diffusion, observe, noise, mean, spread, dt, False)


def unscented_kalman(drift, diffusion, *, mean, spread, noise, observe=None, dt):
    """An unscented Kalman filter: like `extended_kalman`, but for how it meets what is not linear.

    The drift and what is observed are taken at 2 n points round the mean, which give polynomials of degree 3
    their exact expectation, in place of being made linear. `spread` is positive.

    Notes
    -----
    S. Sarkka, IEEE Trans. Automat. Control 52 (2007) 1631-1641, with the points of the cubature rule of I.
    Arasaratnam, S. Haykin, IEEE Trans. Automat. Control 54 (2009) 1254-1269.
    """
    return _filter(drift, diffusion, observe, noise, mean, spread, dt, True)


def _filter(drift, diffusion, observe, noise, mean, spread, dt, by_points):
    given = {"drift": as_dispatcher(drift, "drift")}
    given["diffusion"] = as_dispatcher(diffusion, "diffusion")
    names = tuple(inspect.signature(given["drift"].py_func).parameters.values())
    if len(names) < 2 or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in names):
        raise ArgumentError("drift is a function of (t, y, *parameters), each of them named")
    parameters = ", ".join(p.name for p in names[2:])
    sees_all = observe is None
    if sees_all:
        observe = _whole_state(tuple(p.name for p in names))
    given["observe"] = as_dispatcher(observe, "observe")
    for name, value in (("noise", noise), ("mean", mean), ("spread", spread)):
        if not callable(value):
            value = _constant(name, value, parameters)
        given[name] = as_dispatcher(value, name)
    try:
        step = float(dt)
    except (TypeError, ValueError):
        raise ArgumentError(f"dt must be a float, not {dt!r}") from None
    if not 0.0 < step < np.inf:
        raise ArgumentError(f"dt must be positive and finite; it is {dt!r}")
    return KalmanFilter(**given, dt=step, by_points=by_points, sees_all=sees_all)


def _constant(name, value, parameters):
    """A function of the parameters that returns numbers."""
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or not numbers.size or not np.isfinite(numbers).all():
        raise ArgumentError(
            f"{name} is a sequence of numbers or a function of the parameters, not {value!r}"
        )
    return _returning(name, parameters, tuple(numbers.tolist()))


@lru_cache(maxsize=256)
def _returning(name, parameters, numbers):
    """The function of parameters that returns numbers: the same one for the same, so it is compiled once."""
    return function_of(f"{name}({parameters})", [f"return {numbers!r}"], {})


@lru_cache(maxsize=256)
def _whole_state(names):
    """What is observed where nothing is said of it."""
    return function_of(f"observe({', '.join(names)})", [f"return {names[1]}"], {})


def series(t, y):
    """Observation times (k,) and values (k, m), NaN where nothing was observed; DataError for others."""
    times, values = np.asarray(t, dtype=float), np.asarray(y, dtype=float)
    values = values.reshape(-1, 1) if values.ndim == 1 else values
    if times.ndim != 1 or values.ndim != 2 or len(values) != times.size or not values.size:
        raise DataError(
            "t has one entry for each observation, y a row (or a number); shapes "
            f"{times.shape}, {np.shape(y)}"
        )
    if not np.isfinite(times).all() or not (np.diff(times) > 0.0).all():
        raise DataError("t must be finite and increase strictly")
    if np.isinf(values).any():
        raise DataError(f"y is infinite in row {int(np.argwhere(np.isinf(values))[0, 0])}")
    if np.isnan(values).all():
        raise DataError("y holds no observation: it is NaN everywhere")
    return times, np.ascontiguousarray(values)


def _sizes(kalman, t, observed, start):
    """The sizes of the problem; ModelError where functions return something else."""
    static = {name: _tried(kalman, name, start) for name in _STATIC}
    n = static["mean"].size
    state = np.array(static["mean"])
    found = {name: _tried(kalman, name, (t, state, *start)) for name in _FUNCTIONS[:3]}
    for name, values, wanted, of in (
        ("drift", found["drift"], n, "entries of mean"),
        ("spread", static["spread"], n, "entries of mean"),
        ("observe", found["observe"], observed, "columns of y"),
        ("noise", static["noise"], observed, "columns of y"),
    ):
        if values.shape != (wanted,):
            raise ModelError(f"{name} gives {values.size} number(s); there are {wanted} {of}")
    diffusion = found["diffusion"]
    if diffusion.ndim not in (1, 2) or diffusion.shape[0] != n:
        raise ModelError(
            f"diffusion gives shape {diffusion.shape}; it is ({n},) or ({n}, q), for {n} entries of mean"
        )
    for name in ("noise", "spread"):
        lowest = static[name].min()
        if not lowest >= 0.0 or (lowest == 0.0 and (name == "noise" or kalman.by_points)):
            raise ModelError(
                f"{name} holds standard deviations, which are positive; it is {static[name]}"
            )
    q = diffusion.shape[1] if diffusion.ndim == 2 else None
    return {"n": n, "m": observed, "q": q}


def _tried(kalman, name, given):
    """What a function returns at the start, as an array of finite numbers."""
    function = getattr(kalman, name)
    returned(cpu_target.typing_context, function, tuple(map(typeof, given)))
    if name not in _STATIC:
        # Compiled code reads past the end of an array unless it is told to look.
        function = jit(function.py_func, boundscheck=True)
    try:
        result = function(*given)
        found = np.asarray(result, dtype=float)
    except IndexError:
        raise ModelError(
            f"{name} reads past the state, which has {len(given[1])} entries, as mean has"
        ) from None
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ModelError(f"{name} fails at the start: {error}") from error
    if found.ndim == 0:
        raise ModelError(f"{name} must return a tuple or an array, such as (x,), not {result!r}")
    if not np.isfinite(found).all():
        raise ModelError(f"{name} is not finite at the start: {found}")
    return found


def _source(kalman, sizes, make):
    functions = {name: getattr(kalman, name) for name in _FUNCTIONS}
    return make(functions, dict(sizes), len(kalman.names), kalman.dt, kalman.by_points)


@built_once(lambda kalman, _: kalman.drift)
def _compiled(kalman, sizes):
    return _source(kalman, sizes, log_likelihood_of)


@built_once(lambda kalman, _: kalman.drift)
def _states(kalman, sizes):
    return _source(kalman, sizes, filtered_of)

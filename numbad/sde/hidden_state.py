"""What is fitted by a filter: a state that follows an SDE and is observed in part and with noise."""

import inspect
import operator
from collections import namedtuple
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numba import typeof
from numba.core.registry import cpu_target

from numbad.compilation.caching import user_jit
from numbad.errors import ArgumentError, DataError, ModelError
from numbad.masked_arrays import nan_where_masked
from numbad.ode.compiling import as_dispatcher
from numbad.random import fold_in
from numbad.random import key as key_of
from numbad.random.generator_compiling import HOW_TO_MAKE_A_KEY
from numbad.sde.given_model import as_model
from numbad.sde.model_names import function_of
from numbad.sde.state_source import returned

FUNCTIONS = "drift", "diffusion", "observe", "noise", "mean", "spread"
_STATIC = "noise", "mean", "spread"  # which take the parameters alone

Filtered = namedtuple("Filtered", "mean cov loglik")
Filtered.__doc__ = """What a filter gives: the mean (k, n) and the covariance (k, n, n) of the state at each
observation, given it and those before, and the log-likelihood of all."""


@dataclass(frozen=True)
class HiddenState:
    """The compiled functions of a filter; those that a kind of filter is made by are its own."""

    drift: object
    diffusion: object
    observe: object
    noise: object
    mean: object
    spread: object
    dt: float
    sees_all: bool  # what is observed is the state

    counted = "observations"
    needs_noise = tells_states = True
    is_simulated = False  # the likelihood then has the unevenness of so many paths

    @property
    def names(self):
        """The names of the parameters, those of the drift."""
        return tuple(inspect.signature(self.drift.py_func).parameters)[2:]

    @property
    def settings(self):
        """What compiled code takes before the parameters: it is the same code for all."""
        return (self.dt,)

    def for_series(self, number):
        """What series `number` of several is fitted by."""
        return self

    @property
    def functions(self):
        """Name -> compiled function."""
        return {name: getattr(self, name) for name in FUNCTIONS}

    def count(self, t, y):
        """How many numbers the likelihood is of."""
        return int(np.isfinite(y).sum())

    def log_likelihood(self, t, y, start):
        """The compiled `log_likelihood(t, y, *settings, *parameters)`; raises where functions do not fit."""
        sizes = _sizes(self, float(t[0]), y.shape[1], start)
        return self.likelihood_of(tuple(sizes.items()))

    def filtered(self, t, y, params):
        """Run the filter over observations: `Filtered(mean, cov, loglik)`.

        t, shape (k,), increases; y, shape (k,) or (k, m), is NaN where nothing was observed; `params` is a
        mapping of all parameters (`params` of a fit, say).
        """
        found = Filtered(*self._states(*series(t, y), params)[:3])
        if np.isnan(found.loglik) and not self.is_simulated:
            raise ModelError(
                f"the {type(self).__name__} has lost its covariance, which is no longer positive, or the "
                "model gives NaN: take a smaller dt, or a spread that is not so many times the noise"
            )
        return found

    def residuals(self, t, y, params):
        """How far observations are from what is expected of them; a Kalman filter tells."""
        raise ModelError(f"a {type(self).__name__} has no residuals; a Kalman filter has")

    def _states(self, times, values, params):
        """What the compiled filter returns."""
        start = [float(params[name]) for name in self.names]
        sizes = _sizes(self, float(times[0]), values.shape[1], start)
        return self.states_of(tuple(sizes.items()))(times, values, *self.settings, *start)


@dataclass(frozen=True)
class SimulatedState(HiddenState):
    """A likelihood by simulation: its random numbers are those of a key, and other ones for each series."""

    key: np.uint64

    is_simulated = True

    @property
    def settings(self):
        """What compiled code takes before the parameters."""
        return self.dt, self.key

    def for_series(self, number):
        """What series `number` of several is fitted by: the first by the key as it is given."""
        return self.by_key(number) if number else self

    def by_key(self, number):
        """The same by another key, one of many that this one gives."""
        return replace(self, key=fold_in(self.key, number))


def hidden_state(kind, drift, diffusion, observe, noise, mean, spread, dt, **own):
    """A filter of a kind, of functions as users give them; ArgumentError for what is none."""
    given = dict(zip(("drift", "diffusion"), as_model(drift, diffusion), strict=True))
    names = tuple(inspect.signature(given["drift"].py_func).parameters.values())
    if len(names) < 2 or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in names):
        raise ArgumentError("drift is a function of (t, y, *parameters), each of them named")
    parameters = ", ".join(p.name for p in names[2:])
    sees_all = observe is None
    if sees_all:
        observe = _whole_state(tuple(p.name for p in names))
    given["observe"] = as_dispatcher(observe, "observe")
    for name, value in (("noise", noise), ("mean", mean), ("spread", spread)):
        if value is None and name != "mean" and not kind.needs_noise:  # there is none
            given[name] = None
            continue
        if not callable(value):
            value = _constant(name, value, parameters)
        given[name] = as_dispatcher(value, name)
    try:
        step = float(dt)
    except (TypeError, ValueError):
        raise ArgumentError(f"dt must be a float, not {dt!r}") from None
    if not 0.0 < step < np.inf:
        raise ArgumentError(f"dt must be positive and finite; it is {dt!r}")
    return kind(**given, dt=step, sees_all=sees_all, **own)


def parameter_count(drift):
    """How many parameters a drift takes after t and y."""
    return len(inspect.signature(drift.py_func).parameters) - 2


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


def key_and_count(key, name, count, fewest=2):
    """A key, by default that of 0, and a number of particles or paths; ArgumentError for others."""
    key = key_of(0) if key is None else key
    if not isinstance(key, np.uint64):
        raise ArgumentError(f"key must be a key, not {key!r}; {HOW_TO_MAKE_A_KEY}")
    try:
        found = operator.index(count)
    except TypeError:
        raise ArgumentError(f"{name} is how many, an int, not {count!r}") from None
    if found < fewest:
        raise ArgumentError(f"{name} must be {fewest} or more, not {count!r}")
    return key, found


def series(t, y):
    """Observation times (k,) and values (k, m), NaN where nothing was observed; DataError for others."""
    times, values = (np.array(nan_where_masked(given), dtype=float) for given in (t, y))
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


def _sizes(hidden, t, observed, start):
    """The sizes of the problem; ModelError where functions return something else."""
    given = [name for name in _STATIC if getattr(hidden, name) is not None]
    static = {name: _tried(hidden, name, start) for name in given}
    n = static["mean"].size
    state = np.array(static["mean"])
    found = {name: _tried(hidden, name, (t, state, *start)) for name in FUNCTIONS[:3]}
    for name, values, wanted, of in (
        ("drift", found["drift"], n, "entries of mean"),
        ("spread", static.get("spread"), n, "entries of mean"),
        ("observe", found["observe"], observed, "columns of y"),
        ("noise", static.get("noise"), observed, "columns of y"),
    ):
        if values is not None and values.shape != (wanted,):
            raise ModelError(f"{name} gives {values.size} number(s); there are {wanted} {of}")
    diffusion = found["diffusion"]
    if diffusion.ndim not in (1, 2) or diffusion.shape[0] != n:
        raise ModelError(
            f"diffusion gives shape {diffusion.shape}; it is ({n},) or ({n}, q), for {n} entries of mean"
        )
    for name in {"noise", "spread"}.intersection(given):
        lowest = static[name].min()
        needed = hidden.needs_noise if name == "noise" else hidden.needs_spread
        if not lowest >= 0.0 or (lowest == 0.0 and needed):
            raise ModelError(
                f"{name} holds standard deviations, which are positive; it is {static[name]}"
            )
    q = diffusion.shape[1] if diffusion.ndim == 2 else None
    return {"n": n, "m": observed, "q": q}


def _tried(hidden, name, given):
    """What a function returns at the start, as an array of finite numbers."""
    function = getattr(hidden, name)
    returned(cpu_target.typing_context, function, tuple(map(typeof, given)))
    if name not in _STATIC:
        # Compiled code reads past the end of an array unless it is told to look.
        function = user_jit(function.py_func, boundscheck=True)
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

"""Simulated moments, for models of which paths can be drawn and no density is known: `nd.fit.fit_sde`."""

import inspect
from dataclasses import dataclass

import numpy as np

from numbad.compilation.memo import built_once
from numbad.errors import ModelError
from numbad.ode.compiling import as_dispatcher
from numbad.sde.hidden_state import SimulatedState, hidden_state, key_and_count, parameter_count
from numbad.sde.moment_source import log_likelihood_of


@dataclass(frozen=True)
class SimulatedMoments(SimulatedState):
    """The likelihood of moments, from `simulated`; its functions are compiled."""

    moments: object
    paths: int

    needs_spread = needs_noise = tells_states = False
    counted = "moments"

    def count(self, t, y):
        """How many moments there are; ModelError where there are too many for the paths."""
        try:
            found = np.asarray(self.moments(t, y), dtype=float)
        except (ArithmeticError, IndexError, TypeError, ValueError) as error:
            raise ModelError(f"moments fails on the data: {error}") from error
        if found.ndim != 1 or not np.isfinite(found).all():
            raise ModelError(f"moments must return a tuple of finite numbers, not {found}")
        if self.paths < found.size + 2:
            raise ModelError(
                f"the covariance of {found.size} moments needs {found.size + 2} paths or more, not "
                f"{self.paths}"
            )
        return found.size

    def likelihood_of(self, sizes):
        """The compiled log-likelihood for sizes of the problem."""
        given = tuple(self.functions.items())
        return compiled_moments(self.drift, self.moments, given, sizes, self.paths)


def simulated(
    drift,
    diffusion,
    moments,
    *,
    mean,
    spread=None,
    noise=None,
    observe=None,
    dt,
    paths=200,
    key=None,
):
    """The likelihood of moments of a series, by simulating it: for `nd.fit.fit_sde`.

    Moments of the data are compared with those of paths that the model draws, by the normal density with the
    mean and the covariance that the moments have among the paths. All random numbers are those of `key`, so
    that the likelihood is a smooth function of the parameters where `moments` is one of the series, and has
    exact derivatives.

    Parameters
    ----------
    drift, diffusion
        As for `filters.extended_kalman`.
    moments : function or Numba dispatcher
        `moments(t, y)` returns a tuple of numbers for times (k,) and what is observed at them (k, m): means,
        variances, covariances of neighbours. More than there are parameters.
    mean, spread, noise, observe
        As for `filters.extended_kalman`; `spread` and `noise` are zero unless they are given. Where the data
        are NaN, the simulated series are, too.
    dt : float
        The largest step between observations, in units of t, of Euler and Maruyama's method.
    paths : int
        How many are simulated; the variance of the estimates is larger by a part of 1 / paths.
    key : numpy.uint64, optional
        From `nd.random.key`; by default that of 0.

    Returns
    -------
    SimulatedMoments

    Raises
    ------
    ArgumentError, ModelError
        as for `filters.extended_kalman`; for too few paths, and moments that are no tuple of numbers.

    Notes
    -----
    D. McFadden, Econometrica 57 (1989) 995-1026; the weights are those of S. N. Wood's synthetic likelihood,
    Nature 466 (2010) 1102-1104. `loglik` is that of the moments: compare it among models of the same
    ones.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> from numbad.sde import moments
    >>> def of_series(t, y):
    ...     x = y[:, 0] - y[:, 0].mean()
    ...     return (x**2).mean(), (x[1:] * x[:-1]).mean(), (x[2:] * x[:-2]).mean()
    >>> rng, x, y = np.random.default_rng(0), 0.0, []
    >>> for _ in range(300):
    ...     x = 0.9 * x + 0.4 * rng.normal()
    ...     y.append(x)
    >>> model = moments.simulated(
    ...     lambda t, y, rate, vol: (-rate * y[0],), lambda t, y, rate, vol: (vol,), of_series,
    ...     mean=(0.0,), spread=(1.0,), dt=0.5)
    >>> fit = nd.fit.fit_sde(model, np.arange(300.0), y, {"rate": 0.2, "vol": 0.3})
    >>> bool(abs(fit.params["rate"] + np.log(0.9)) < 3.0 * fit.stderr["rate"])
    True
    """
    key, count = key_and_count(key, "paths", paths)
    given = as_dispatcher(moments, "moments")
    if len(inspect.signature(given.py_func).parameters) != 2:
        raise ModelError("moments is a function of (t, y), the times and what is observed at them")
    own = {"moments": given, "paths": count, "key": key}
    return hidden_state(SimulatedMoments, drift, diffusion, observe, noise, mean, spread, dt, **own)


@built_once(lambda drift, *_: drift)
def compiled_moments(drift, moments, given, sizes, paths):
    """`log_likelihood(t, y, dt, key, *parameters)`; `given`: the items of the functions."""
    return log_likelihood_of(moments, dict(given), dict(sizes), parameter_count(drift), paths)

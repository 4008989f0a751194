"""Kalman filters for equations that are observed in part and with noise: `nd.fit.fit_sde` takes them."""

from dataclasses import dataclass

import numpy as np

from numbad.compilation.memo import built_once
from numbad.sde.filter_source import filtered_of, log_likelihood_of
from numbad.sde.hidden_state import HiddenState, hidden_state, parameter_count, series
from numbad.sde.particles import particle_filter

__all__ = ["extended_kalman", "particle_filter", "unscented_kalman"]


@dataclass(frozen=True)
class KalmanFilter(HiddenState):
    """A filter, from `extended_kalman` or `unscented_kalman`; its functions are compiled."""

    by_points: bool

    @property
    def needs_spread(self):
        """Whether the state at the first observation may not be known exactly."""
        return self.by_points

    def likelihood_of(self, sizes):
        """The compiled log-likelihood for sizes of the problem."""
        return self._compiled(log_likelihood_of, sizes)

    def states_of(self, sizes):
        """The compiled filter for sizes of the problem."""
        return self._compiled(filtered_of, sizes)

    def residuals(self, t, y, params):
        """Return (expected - observed) / deviation of each observation, shape (k, m); NaN where none was.

        What is expected is that of the parameters and the observations before. Numbers observed at one time
        are made independent of one another, each given those before it in its row (by the root of Cholesky
        of their covariance): if the model holds, and is linear, all of them are independent standard normal
        ones. Arguments as for `filtered`.
        """
        times, values = series(t, y)
        *_, ahead, scatters = self._states(times, values, params)
        found = np.full(values.shape, np.nan)
        for row, gap, scatter in zip(found, ahead - values, scatters, strict=True):
            seen = ~np.isnan(gap)
            root = np.linalg.cholesky(scatter[np.ix_(seen, seen)])
            row[seen] = np.linalg.solve(root, gap[seen])
        return found

    def _compiled(self, make, sizes):
        return _compiled(self.drift, make, tuple(self.functions.items()), sizes, self.by_points)


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
    >>> from numbad.sde import filters
    >>> seen = filters.extended_kalman(
    ...     lambda t, y, rate, vol, error: (-rate * y[0],),
    ...     lambda t, y, rate, vol, error: (vol,),
    ...     mean=(0.0,), spread=(1.0,), noise=lambda rate, vol, error: (error,), dt=0.5)
    >>> y = np.array([0.3, 0.5, np.nan, -0.2, 0.1])
    >>> states = seen.filtered(np.arange(5.0), y, {"rate": 0.5, "vol": 0.5, "error": 0.1})
    >>> states.mean.shape, states.cov.shape, bool(abs(states.mean[0, 0] - 0.3) < 0.01)
    ((5, 1), (5, 1, 1), True)

    `nd.fit.fit_sde(seen, t, y, start)` finds `rate`, `vol` and `error` by maximum likelihood.
    """
    return hidden_state(
        KalmanFilter, drift, diffusion, observe, noise, mean, spread, dt, by_points=False
    )


def unscented_kalman(drift, diffusion, *, mean, spread, noise, observe=None, dt):
    """An unscented Kalman filter: like `extended_kalman`, but for how it meets what is not linear.

    The drift and what is observed are taken at 2 n points round the mean, which give polynomials of degree 3
    their exact expectation, in place of being made linear. `spread` is positive.

    Notes
    -----
    S. Sarkka, IEEE Trans. Automat. Control 52 (2007) 1631-1641, with the points of the cubature rule of I.
    Arasaratnam, S. Haykin, IEEE Trans. Automat. Control 54 (2009) 1254-1269.
    """
    return hidden_state(
        KalmanFilter, drift, diffusion, observe, noise, mean, spread, dt, by_points=True
    )


@built_once(lambda drift, *_: drift)
def _compiled(drift, make, given, sizes, by_points):
    """What `make` makes, likelihood or states; `given`: the functions' items."""
    return make(dict(given), dict(sizes), parameter_count(drift), by_points)

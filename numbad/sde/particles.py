"""The particle filter, for states that are far from normal: `nd.fit.fit_sde` takes it."""

from dataclasses import dataclass

from numbad.compilation.memo import built_once
from numbad.errors import ArgumentError
from numbad.sde.hidden_state import SimulatedState, hidden_state, key_and_count, parameter_count
from numbad.sde.particle_source import filtered_of, log_likelihood_of

FEWEST = 10


@dataclass(frozen=True)
class ParticleFilter(SimulatedState):
    """A filter, from `particle_filter`; its functions are compiled."""

    particles: int
    width: float | None

    needs_spread = False

    def likelihood_of(self, sizes):
        """The compiled log-likelihood for sizes of the problem."""
        return self._compiled(log_likelihood_of, sizes)

    def states_of(self, sizes):
        """The compiled filter for sizes of the problem."""
        return self._compiled(filtered_of, sizes)

    def _compiled(self, make, sizes):
        n, width = dict(sizes)["n"], self.width
        if width is None:
            width = (4.0 / (n + 2.0) / self.particles) ** (1.0 / (n + 4.0)) * (
                0.5 if n == 1 else 1.0
            )
        given = tuple(self.functions.items())
        return compiled_filter(self.drift, make, given, sizes, self.particles, float(width))


def particle_filter(
    drift, diffusion, *, mean, spread, noise, observe=None, dt, particles=500, width=None, key=None
):
    """A bootstrap particle filter, as a likelihood for `nd.fit.fit_sde`: any drift, any diffusion.

    Particles follow the equation from observation to observation, by steps of Euler and Maruyama, and weigh
    what the density of the observation is there. All random numbers are those of `key`, and resampling is
    smooth, so that the likelihood is a smooth function of the parameters, with exact derivatives.

    Parameters
    ----------
    drift, diffusion, mean, spread, noise, observe
        As for `extended_kalman`.
    dt : float
        The largest step between observations, in units of t; its error is of order 1.
    particles : int
        How many.
    width : float, optional
        Standard deviation of the kernels of resampling, in those of the particles, below 1. By default the
        one that is best for normal densities (Silverman, 1986), half of it where the state is one number.
    key : numpy.uint64, optional
        From `nd.random.key`; by default that of 0.

    Returns
    -------
    ParticleFilter

    Raises
    ------
    ArgumentError, ModelError
        as for `extended_kalman`; for numbers of particles, widths and keys that are none.

    Notes
    -----
    N. J. Gordon, D. J. Salmond, A. F. M. Smith, IEE Proc. F 140 (1993) 107-113. The log-likelihood has these
    errors. That of the steps, of the size of dt. A random one, the same for all parameters near one another,
    of the size of sqrt(k / particles) for k observations, and a bias of half of its square, downwards. And
    that of the kernels, which leaves mean and covariance of the particles as they are and makes their density
    smoother otherwise, of the size of width**2: it vanishes with many particles, as `width` then does. What
    another key gives shows the random part; where it moves estimates by 0.3 of their standard errors or more,
    `message` of a fit says so, and more particles are needed. Time grows with the square of `particles`.

    Examples
    --------
    A state with two wells, seen through noise:

    >>> import numpy as np
    >>> from numbad.sde import filters
    >>> wells = filters.particle_filter(
    ...     lambda t, y, height: (height * (y[0] - y[0] ** 3),), lambda t, y, height: (0.7,),
    ...     mean=(0.0,), spread=(1.0,), noise=(0.3,), dt=0.1, particles=100)
    >>> there = wells.filtered(np.arange(4.0), [0.9, np.nan, -0.9, -1.1], {"height": 1.0})
    >>> there.mean.shape, bool(there.mean[0, 0] > 0.5), bool(there.mean[3, 0] < -0.5)
    ((4, 1), True, True)
    """
    key, count = key_and_count(key, "particles", particles, FEWEST)
    if width is not None and not (isinstance(width, int | float) and 0.0 < width < 1.0):
        raise ArgumentError(f"width must lie between 0 and 1, not {width!r}")
    own = {"particles": count, "width": width, "key": key}
    return hidden_state(ParticleFilter, drift, diffusion, observe, noise, mean, spread, dt, **own)


@built_once(lambda drift, *_: drift)
def compiled_filter(drift, make, given, sizes, particles, width):
    """What `make` makes, likelihood or states of (t, y, dt, key, *p); `given`: the functions' items."""
    return make(dict(given), dict(sizes), parameter_count(drift), particles, width)

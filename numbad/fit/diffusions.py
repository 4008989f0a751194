"""Fits of stochastic differential equations: by transitions, filters, simulated moments."""

import numpy as np

from numbad.errors import ArgumentError
from numbad.fit.diffusion_result import DiffusionFit
from numbad.fit.experiment import read_experiments, split_start
from numbad.fit.freedom import Freedom, varying
from numbad.fit.likelihood import LikelihoodProblem, check_start, in_order, parameters_of
from numbad.fit.multistart import run_starts
from numbad.fit.observed_series import joined, placed_parameters, read_data
from numbad.fit.unknowns import latin_hypercube
from numbad.interrupts import interruptible
from numbad.keywords import checks_keywords


@interruptible
@checks_keywords("nd.fit.fit_sde")
def fit_sde(
    density,
    t,
    y,
    p0,
    *,
    experiments=None,
    own=(),
    fixed=(),
    bounds=None,
    transforms=None,
    priors=None,
    starts=1,
    seed=0,
    executor=None,
    progress=True,
    journal=None,
):
    """Fit an SDE to series by maximum likelihood: by their transitions, by a filter, by moments.

    Parameters
    ----------
    density : function, Numba dispatcher, filter or simulated moments
        For a scalar equation that is observed without noise:
        `density(t0, y0, t1, y1, *parameters)`: the logarithm of the density of `y1` at `t1`, given `y0` at
        `t0`. `numbad.sde.transitions` has exact ones (`vasicek`, `cir`, `gbm`) and approximations of those of
        any equation, `euler(drift, diffusion)` and `ait_sahalia(drift, diffusion)`. For states of several
        components, observed in part or with noise: a filter from `numbad.sde.filters`, whose parameters are
        those of its drift. For models that can only be simulated: `numbad.sde.moments.simulated`.
    t, y : array_like, shape (k,)
        Increasing times, and what was observed at them. For filters and moments y has the shape (k, m), or
        (k,), and is NaN, or masked, where nothing was observed. None with `experiments`.
    p0 : mapping
        Parameter -> start. Further entries are unknowns that `experiments` refer to by name.
    experiments : list of Experiment, optional
        Several series, independent of each other, fitted together: `nd.fit.Experiment(t, y, args=, name=)`,
        each with t and y as above, and what is known of its parameters, or is its own, in ``args``.
    own : str or sequence of str, optional
        Parameters that have a value of their own in each experiment, ``"rate[name]"``, all starting from
        `p0`; the name alone means all of them in `bounds`, `fixed`, `transforms`, `priors`.
    fixed : sequence of str, or mapping
        Parameters that keep their start, or parameter -> the value to hold it at. What has equal bounds is
        fixed, too.
    bounds : mapping or sequence, optional
        Parameter -> (low, high), None for no bound; or such a pair for each.
    transforms : str or mapping, optional
        On which scale parameters are fitted: "linear", "log" for positive ones, "logit" for those between two
        finite bounds; one for all, or parameter -> transform. By default "log" where the start is positive,
        so that the parameter stays so, unless its lower bound is negative; else "linear".
    priors : mapping, optional
        Parameter -> ``("normal", mean, deviation)`` or ``("lognormal", median, deviation of the logarithm)``.
        The estimates are then the mode of the posterior, of which a log-normal prior is a density of the
        logarithm, and profiles are those of the posterior.
    starts, seed, executor, progress, journal : optional
        As in `fit_ode`: local fits from so many starts, `p0` and a Latin hypercube within `bounds`, of which
        the best counts; run by any executor, with a bar, kept in a file from which a run that was killed
        goes on. The result does not depend on executors and interruptions.

    Returns
    -------
    DiffusionFit
        `params`, `stderr` (from the Hessian of the log-likelihood, with priors of the log-posterior, in the
        transformed parameters, by the delta method), `cov`, `loglik`, `aic`, `bic`, `success`, `message`,
        `summary()`, `profile(name)`.

    Raises
    ------
    ArgumentError, ModelError, DataError
        for parameters that `density` has not, transforms and priors that do not exist, bounds, data or a
        journal that do not fit.

    Notes
    -----
    The optimiser is SciPy's "trust-exact", with gradient and Hessian exact; with bounds that no logit takes
    away, and for profiles, "L-BFGS-B" with the exact gradient.

    Examples
    --------
    >>> import numpy as np
    >>> import numbad as nd
    >>> from numbad.data import load_us_tbill
    >>> from numbad.sde import transitions
    >>> years, rate = load_us_tbill()
    >>> start = {"kappa": 0.2, "theta": 0.05, "sigma": 0.02}
    >>> result = nd.fit.fit_sde(transitions.vasicek, years, rate, start)
    >>> round(result.loglik, 4)
    673.7239

    The rate before and after 1979, with a volatility of its own in each:

    >>> early = years < 1979.5
    >>> parts = [nd.fit.Experiment(years[one], rate[one], name=name)
    ...          for name, one in (("early", early), ("late", ~early))]
    >>> both = nd.fit.fit_sde(transitions.vasicek, None, None, start, experiments=parts, own="sigma")
    >>> bool(both.params["sigma[late]"] > 1.5 * both.params["sigma[early]"])
    True
    """
    for name, value, least in (("starts", starts, 1), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ArgumentError(f"{name} must be a whole number, at least {least}; got {value!r}")
    experiments = read_experiments(experiments, t, y, "fit_sde(density")
    start, extras = split_start(parameters_of(density), check_start(p0), experiments, None)
    names, start = in_order(density, start)
    candidates = placed_parameters(names, start, extras, own, experiments)
    data = read_data(density, experiments)
    freedom = Freedom((), fixed, bounds, transforms, priors)
    all_names, aliases = tuple(candidates.names), candidates.unambiguous_aliases
    freed = varying(all_names, candidates.start, freedom, _default, aliases)
    held = {
        name: value
        for name, value, is_held in zip(all_names, freed.start.tolist(), freed.fixed, strict=True)
        if is_held
    }
    series = joined(data, candidates, freed)
    problem = LikelihoodProblem(density, names, freed.unknowns, freed.priors, held, series)
    points = latin_hypercube(problem.unknowns, int(starts), seed)
    fits = run_starts(problem, points, int(seed), executor, progress, journal)
    return DiffusionFit(problem, fits)


def _default(start, lower):
    """The transform of a parameter for which none is given: what starts positive stays so."""
    return "log" if start > 0.0 and not -np.inf < lower < 0.0 else "linear"

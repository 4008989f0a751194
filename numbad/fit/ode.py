"""The fit of an ODE to data."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from numbad.errors import ModelError
from numbad.fit.assemble import make_problem
from numbad.fit.doses import read_events
from numbad.fit.freedom import Freedom
from numbad.fit.multistart import run_starts
from numbad.fit.on_device import DEVICES, on_device
from numbad.fit.problem import FitControl, Solving, as_entries, as_tuple
from numbad.fit.result import FitResult
from numbad.fit.unknowns import latin_hypercube
from numbad.interrupts import interruptible
from numbad.keywords import checks_keywords

SENSITIVITIES = ("auto", "forward", "adjoint")
# So many unknowns for each number compared with data make reverse sweeps faster than forward ones:
# a system of two equations with 200 unknowns and 10 such numbers 2.4 and 3.4 ms forward and in
# reverse, with 1000 unknowns 169 and 45 ms.
MANY = 40


@interruptible
@checks_keywords("nd.fit.fit_ode")
def fit_ode(
    fun,
    t,
    y,
    p0,
    *,
    y0=None,
    fit_y0=False,
    fixed=(),
    t0=None,
    names=None,
    components=None,
    observed=None,
    observables=None,
    experiments=None,
    own=(),
    events=(),
    tstops=None,
    bounds=None,
    transforms=None,
    priors=None,
    sigma=None,
    absolute_sigma=False,
    loss="linear",
    f_scale=1.0,
    scale="linear",
    method="Tsit5",
    rtol=1e-8,
    atol=None,
    first_step=None,
    max_step=math.inf,
    max_steps=100_000,
    sens_errcon=False,
    mass_matrix=None,
    jac_sparsity=None,
    sensitivity="auto",
    starts=1,
    seed=0,
    executor=None,
    device="cpu",
    progress=True,
    journal=None,
    ftol=1e-10,
    xtol=1e-10,
    gtol=1e-10,
    max_nfev=None,
    optimizer_options=None,
):
    """Fit parameters and initial values of an ordinary differential equation to observations.

    Least squares by SciPy, with the exact Jacobian from forward sensitivities, never differences.

    Parameters
    ----------
    fun : callable
        ``fun(t, y, *parameters)`` returns dy/dt as a tuple or array; compiled by Numba. If it takes
        one argument after (t, y) while `p0` has several values, that gets them all, as a tuple; as
        a named tuple where `p0` names them.
    t, y : array, shape (m,), and array, shape (m, components observed) or (m,)
        Times, in any order, and what was observed then, once or several times; NaN, or a mask,
        marks a missing observation. Both None with `experiments`. Components
        observed at different times go by name or index: ``y={"hare": hare, "lynx": lynx}`` with `t`
        one array for all or a dict alike, or ``t=None`` and ``y={"hare": (t_hare, hare), ...}``.
    p0 : sequence, dict, named tuple or number
        Where the parameters start. Names are matched with those of `fun`'s arguments. A dict may
        have further entries: unknowns that initial values or experiments refer to by name.
    y0 : sequence, dict, named tuple or array, shape (n,), optional
        The state at the initial time; by default what was observed then, which is then taken as
        exact and no longer counts as an observation, or is where `fit_y0` starts. A text in place
        of a number is the name of an entry of `p0`. Or a function ``y0(*parameters)``, which gets the
        parameters as `fun` does and returns a tuple or array: `numbad.ode.steady_state` of another
        condition, for instance. Compiled, and differentiated.
    fit_y0 : bool or list, optional
        Whether initial values are unknowns, too, starting from `y0`: all, or the components listed.
    fixed : sequence of str, or dict, optional
        Unknowns to hold: names, or name -> the value to hold it at; without one, where it starts.
        What has equal bounds is fixed, too. A free initial value may go by the name of its component.
    t0 : float, optional
        The initial time; by default that of the first observation.
    names : sequence of str, optional
        What to call the parameters; by default as `fun`'s arguments or the keys of `p0`. A free
        initial value is called ``"hare(1900)"``, or ``"y0[0]"`` where `components` are not named.
    components : sequence of str, optional
        Names of the components of the state; by default those in `y0`, or else in `y`: its keys,
        or the columns of a data frame.
    observed : sequence of int or str, optional
        Which component each column of `y` is; by default all, in order.
    observables : function, or dict of name -> function, optional
        ``observables(t, y, *parameters)`` returns what is compared with the data in place of the
        components of the state: a number, a tuple or an array; with a dict, each function a number.
        Compiled and differentiated like `fun`. Columns of `y` go by name where a dict or a named
        tuple names them, and by index otherwise; `observed` and `sigma` alike. Needs `y0`.
    experiments : list of Experiment, optional
        Several experiments, fitted together; see `Experiment` for what each may have of its own.
        Parameters are shared unless `own` or the experiment's ``args`` say otherwise; free initial
        values are each experiment's own, ``"hare(1900)[name]"``.
    own : str or sequence of str, optional
        Parameters that have a value of their own in each experiment, ``"rate[name]"``, all starting
        from `p0`. Their plain name stands for all of them in `fixed`, `bounds` and the like.
    events, tstops : optional
        As in `numbad.ode.solver`: changes of the state, switches of `fun`. Their functions get the
        parameters as `fun` does, and times that hang on these are differentiated. Doses of single
        experiments are simpler to give to `Experiment`.
    bounds : dict or sequence, optional
        Unknown -> (low, high), None for no bound; or such a pair for each unknown. A free initial
        value may go by the name of its component.
    transforms : str or dict, optional
        On which scale unknowns are fitted: "linear", "log" for positive ones, "logit" for those
        between two finite bounds; one for all, or unknown -> transform. By default as `scale` has
        it. Estimates and standard errors are on the natural scale all the same.
    priors : dict, optional
        Unknown -> ``("normal", mean, deviation)`` or ``("lognormal", median, deviation of the
        logarithm)``. The estimates are then the mode of the posterior, of which a log-normal prior
        is a density of the logarithm; `cov` is the inverse of its Gauss-Newton Hessian. Needs
        `absolute_sigma`, or ``sigma="estimate"``.
    sigma : float, array, dict or "estimate", optional
        Standard deviation of an observation: one for all, one a component, one a time, or one a
        point; a dict has one for each observed component. On the log scale it is that of the logarithm.
        Only ratios matter unless `absolute_sigma`.
        "estimate" finds one for each component or observable, over all experiments, by maximum
        likelihood, `FitResult.noise`, and takes it with its degrees of freedom for standard errors;
        in a dict by component for those that have it, and numbers
        beside it count as they are.
    absolute_sigma : bool, optional
        Take `sigma` as it is; otherwise the noise is estimated from the residuals.
    loss, f_scale : str, float, optional
        SciPy's: "linear", or the robust "soft_l1", "huber", "cauchy", "arctan"; where residuals
        begin to count as outliers. Priors count by their squares. With a robust loss `absolute_sigma`
        changes nothing but that priors can be weighed against the data.
    scale : "linear" or "log", optional
        "log" does two things: every unknown is fitted as its logarithm, unless `transforms` says
        otherwise, and residuals are log(model) - log(data), for errors in proportion to the size.
        Unknowns and data must then be positive. Estimates and standard errors are reported on the
        natural scale all the same.
    method, rtol, atol, first_step, max_step, max_steps, mass_matrix, jac_sparsity, sens_errcon : optional
        As in `numbad.ode.solver`. With a singular mass matrix, `y0` must satisfy its equations. `atol` has
        the units of y. By default it is 1e-8 of the power of ten above the largest observed or initial
        value, 1e-8 at most: data in mol/l are fitted as those in nmol/l are.
    sensitivity : "auto", "forward" or "adjoint", optional
        How derivatives are taken: by dual numbers, or by reverse sweeps through the solution, one for
        each number that an experiment compares with data. "auto" is "adjoint" where there are over 40
        times as many unknowns as such numbers in any experiment, "forward" else.
    starts, seed : int, int, optional
        Local fits from so many starts, the best of which counts: `p0`, and a Latin hypercube within
        `bounds`, which must then be finite.
    executor : int or concurrent.futures.Executor, optional
        Runs the starts: threads, processes, Dask, MPI. The result does not depend on it.
    device : "cpu" or "cuda", optional
        What solves the ODE. "cuda": a GPU, in float64, each experiment at each start in a thread of its own;
        starts advance together, and what all of them need is one launch. Estimates are those of "cpu" up to
        `ftol` and `xtol`. What a GPU has no code for is refused: docs/cuda.md lists it.
    progress : bool, optional
        Show a bar over the starts on standard error, if that is a terminal.
    journal : path, optional
        Keep every finished start in this file. A run that was killed, called again with the same
        arguments, repeats none of them and ends with the same result.
    ftol, xtol, gtol, max_nfev : float, float, float, int, optional
        When to stop, as in `scipy.optimize.least_squares`.
    optimizer_options : dict, optional
        Further arguments of `scipy.optimize.least_squares`: ``method`` ("lm" without bounds and "trf"
        with them, by default), ``x_scale``, ``tr_solver``, ``tr_options``.

    Returns
    -------
    FitResult
        Also where the optimiser did not converge: see its `success` and `message`.

    Raises
    ------
    DataError
        Times, observations, sigma or a journal that cannot be used.
    ModelError
        A model, start, bounds or options that cannot be used, on the device asked for.
    DeviceError
        device="cuda" without a GPU, or without room on it.

    Examples
    --------
    >>> import numpy as np, numbad as nd
    >>> def cooling(t, y, rate, room):
    ...     return (-rate * (y[0] - room),)
    >>> minute = np.array([0.0, 2.0, 5.0, 10.0, 20.0, 40.0])
    >>> tea = np.array([83.1, 71.9, 59.8, 44.0, 28.6, 21.3])
    >>> result = nd.fit.fit_ode(cooling, minute, tea, dict(rate=0.1, room=20.0), fit_y0=True)
    >>> {name: round(value, 3) for name, value in result.params.items()}
    {'rate': 0.095, 'room': 19.609, 'y0[0]': 83.192}

    The method: C. Tsitouras (2011) for the solution, J. J. More (1978) and M. A. Branch, T. F.
    Coleman & Y. Li (1999) for the least squares, without and with bounds.
    """
    for name, value, among in (
        ("sensitivity", sensitivity, SENSITIVITIES),
        ("device", device, DEVICES),
    ):
        if value not in among:
            listed = ", ".join(map(repr, among))
            raise ModelError(f"{name} must be one of {listed}; got {value!r}")
    for name, value, least in (("starts", starts, 1), ("seed", seed, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ModelError(f"{name} must be a whole number, at least {least}; got {value!r}")
    problem = make_problem(
        fun, t, y, p0, y0, fit_y0, t0, names, components, observed, observables, experiments,
        read_events(events, tstops), sigma, scale, Freedom(own, fixed, bounds, transforms, priors),
        FitControl(
            loss, f_scale, absolute_sigma, ftol, xtol, gtol, max_nfev, read_options(optimizer_options),
        ),
        Solving(
            method, as_tuple(rtol), as_tuple(atol), first_step, max_step, max_steps,
            as_tuple(mass_matrix) if jac_sparsity is None else as_entries(mass_matrix),
            bool(sens_errcon), as_entries(jac_sparsity),
        ),
    )  # fmt: skip
    problem = replace(problem, shape=_sensing(problem, sensitivity))
    points = latin_hypercube(problem.unknowns, starts, seed)
    fitted = problem if device == "cpu" else on_device(problem, sensitivity, executor)
    fits = run_starts(fitted, points, int(seed), executor, progress, journal)
    return FitResult(problem, fits)


OPTIMIZER_OPTIONS = ("method", "x_scale", "tr_solver", "tr_options")


def read_options(given):
    """Return options of the optimiser as pairs; raise `ModelError` for others."""
    options = {} if given is None else given
    if not isinstance(options, Mapping):
        raise ModelError(
            f'optimizer_options must be a dict such as {{"method": "dogbox"}}; got {given!r}'
        )
    for name in options:
        if name not in OPTIMIZER_OPTIONS:
            raise ModelError(
                f"optimizer_options: {name!r} is none of {', '.join(OPTIMIZER_OPTIONS)}; bounds, loss and "
                "when to stop are arguments of fit_ode"
            )
    if options.get("method", "trf") not in ("lm", "trf", "dogbox"):
        raise ModelError(
            f"optimizer_options: method must be 'lm', 'trf' or 'dogbox'; got {options['method']!r}"
        )
    return tuple((name, options[name]) for name in sorted(options))


def _sensing(problem, sensitivity):
    """Return the shape of a problem, with the sensitivities asked for or, if "auto", the faster."""
    shape, seen = problem.shape, problem.observing
    width = shape.components if seen is None else seen.width
    outputs = width * max(len(trial.observations.flat[0]) for trial in problem.trials)
    many = len(shape.varied) + len(shape.free) > MANY * outputs
    return shape._replace(adjoint=sensitivity == "adjoint" or (sensitivity == "auto" and many))

"""SciPy's `least_squares` and `minimize` with exact derivatives of compiled functions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from numbad.errors import ModelError
from numbad.fit.local import Evaluations, LocalFit, first_evaluation
from numbad.fit.problem import FitControl
from numbad.fit.report import minimum_table
from numbad.fit.result import FitResult
from numbad.fit.robust_losses import of_data_alone
from numbad.fit.uncertainty import check_level, from_hessian, half_width
from numbad.fit.unknowns import Unknowns
from numbad.interrupts import interruptible
from numbad.masked_arrays import nan_where_masked

TAKES_HESSIAN_PRODUCT = ("newton-cg", "trust-ncg", "trust-krylov", "trust-constr")
TAKES_HESSIAN = ("dogleg", "trust-exact")
TAKES_NO_GRADIENT = ("nelder-mead", "powell", "cobyla", "cobyqa")


class FunctionProblem:
    """The problem of `least_squares`: what `OdeProblem` offers, without a model in time."""

    def __init__(self, fun, args, unknowns, control):
        from numbad.operators import value_and_jacobian

        self.compiled = value_and_jacobian(fun, 0)
        self.args, self.unknowns, self.control = args, unknowns, control
        self.count = None

    # Residuals alone, of one unknown deviation.
    levels, priors, log, log_widths, fixed = None, (), False, 0.0, ()

    def evaluate(self, x):
        """Return residuals, shape (m,), and Jacobian, shape (m, k)."""
        residuals, jacobian = self.compiled(np.array(x, dtype=np.float64), *self.args)
        residuals, jacobian = np.asarray(residuals), np.asarray(jacobian)
        if residuals.ndim != 1:
            raise ModelError(
                f"fun must return its residuals as a 1-D array or a tuple, not {residuals!r}"
            )
        self.count = len(residuals)
        return residuals, jacobian

    def arrange(self, residuals):
        """Return residuals as they are."""
        return residuals


@interruptible
def least_squares(fun, x0, args=(), *, names=None, **options):
    """Minimise half the sum of squares of ``fun(x, *args)`` with its exact Jacobian.

    A thin layer over `scipy.optimize.least_squares`.

    Parameters
    ----------
    fun : callable
        Compiled by Numba; returns the residuals, a 1-D array or tuple.
    x0 : array, shape (k,), or float
        The start.
    args : tuple, optional
        Further arguments of `fun`, constants.
    names : sequence of str, optional
        What to call the unknowns; by default ``"x[0]"`` and so on.
    **options
        Of `scipy.optimize.least_squares`: ``bounds``, ``method``, ``loss``, ``ftol``, ...

    Returns
    -------
    FitResult
        `predict`, `band` and `plot` need a model in time and are not for this one.

    Raises
    ------
    ModelError
        A start at which `fun` cannot be evaluated, or is not finite.

    >>> import numpy as np, numbad as nd
    >>> def residuals(x, t, y):
    ...     return x[0] * np.exp(-x[1] * t) - y
    >>> t = np.linspace(0.0, 2.0, 9)
    >>> nd.fit.least_squares(residuals, [1.0, 1.0], (t, 3.0 * np.exp(-1.5 * t))).x.round(6)
    array([3. , 1.5])
    """
    from scipy import optimize

    _refuse("least_squares", options, ("jac", "args", "kwargs"))
    unknowns = _unknowns(x0, names, options.get("bounds", (-np.inf, np.inf)))
    known = {name: options[name] for name in FitControl.__dataclass_fields__ if name in options}
    problem = FunctionProblem(fun, as_arguments(args), unknowns, FitControl(**known))
    first = first_evaluation(problem, unknowns.start)
    marker = 1e6 * (1.0 + np.linalg.norm(first[1])) if options.get("method") == "lm" else np.nan
    rejected = np.full_like(first[1], marker), np.zeros_like(first[2])
    evaluations = Evaluations(problem.evaluate, first, rejected)
    options["loss"] = of_data_alone(options.get("loss", "linear"), len(first[1]))
    found = optimize.least_squares(
        evaluations.residuals, first[0], jac=evaluations.jacobian, **options
    )
    return FitResult(problem, [_as_fit(unknowns, found, found.cost)])


@interruptible
def minimize(fun, x0, args=(), *, names=None, **options):
    """Minimise ``fun(x, *args)``, a number, with its exact gradient and Hessian-vector product.

    A thin layer over `scipy.optimize.minimize`, which gets what the method can use: the gradient;
    the product for "Newton-CG", "trust-ncg", "trust-krylov" and "trust-constr"; the Hessian for
    "dogleg" and "trust-exact".

    Parameters
    ----------
    fun : callable
        Compiled by Numba; returns a float.
    x0 : array, shape (k,), or float
        The start.
    args : tuple, optional
        Further arguments of `fun`, constants.
    names : sequence of str, optional
        What to call the unknowns; by default ``"x[0]"`` and so on.
    **options
        Of `scipy.optimize.minimize`: ``method``, ``bounds``, ``constraints``, ``tol``, ...

    Returns
    -------
    Minimum
        `cost` is the value of `fun`; `cov` and `stderr` come from the inverse of the Hessian and
        mean what they say where `fun` is a negative log-likelihood. They ignore bounds and constraints, as
        `message` says where these matter.

    >>> import numbad as nd
    >>> def rosenbrock(x):
    ...     return (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2
    >>> nd.fit.minimize(rosenbrock, [-1.2, 1.0], method="trust-ncg").x.round(4)
    array([1., 1.])
    """
    from scipy import optimize

    from numbad.operators import hessian, hvp, value_and_grad

    _refuse("minimize", options, ("jac", "hess", "hessp", "kwargs"))
    unknowns = _unknowns(x0, names, _ends(options.get("bounds")))
    args, method = as_arguments(args), str(options.get("method", "")).lower()
    gradient = value_and_grad(fun, 0)
    if method not in TAKES_NO_GRADIENT:
        options["jac"] = True
    if method in TAKES_HESSIAN_PRODUCT:
        product = hvp(fun, (0,))
        options["hessp"] = lambda x, v: product((x, *args), (v,))[0]
    if method in TAKES_HESSIAN:
        options["hess"] = lambda x: hessian(fun, 0)(x, *args)

    def evaluate(x):
        value, slope = gradient(np.array(x), *args)
        return (value, slope) if method not in TAKES_NO_GRADIENT else value

    found = optimize.minimize(evaluate, unknowns.start, **options)
    objective = _Objective(fun, args, unknowns, has_constraints(options.get("constraints", ())))
    return Minimum(objective, [_as_fit(unknowns, found, found.fun)])


def _ends(bounds):
    """Lower and upper ends of `bounds=` of SciPy's minimizers, which raise for those that are wrong."""
    if bounds is None or hasattr(bounds, "lb"):
        return (-np.inf, np.inf) if bounds is None else bounds
    try:
        pairs = [(-np.inf if a is None else a, np.inf if b is None else b) for a, b in bounds]
    except TypeError:
        raise ModelError(
            f"bounds is a pair (low, high) for each unknown, None for an end without one, not {bounds!r}"
        ) from None
    return tuple(zip(*pairs, strict=True))


def has_constraints(constraints):
    """Whether `constraints=` of SciPy's minimizers hold any: one of them, or a sequence."""
    return (
        isinstance(constraints, dict) or not hasattr(constraints, "__len__") or len(constraints) > 0
    )


def _refuse(name, options, unwanted):
    for option in unwanted:
        if option in options:
            way_out = (
                "give further arguments of fun as args=(...), in their order"
                if "args" in option
                else "leave it out: derivatives of fun are exact"
            )
            raise ModelError(f"nd.fit.{name} does not take {option}=; {way_out}")


def as_arguments(args):
    """Further arguments as a tuple, one alone as SciPy takes it; lists of numbers as arrays."""
    args = args if isinstance(args, tuple | list) else (args,)
    return tuple(np.array(one) if isinstance(one, list) else one for one in args)


def _unknowns(x0, names, bounds):
    try:
        start = np.atleast_1d(np.array(nan_where_masked(x0), dtype=np.float64))
    except (TypeError, ValueError):
        start = np.empty((0, 0))
    if start.ndim != 1 or not np.isfinite(start).all():
        raise ModelError(f"x0 must be a number or a 1-D array, all finite; got {x0!r}")
    names = tuple(f"x[{i}]" for i in range(len(start))) if names is None else tuple(names)
    if len(names) != len(start):
        raise ModelError(f"names: {len(names)} names for {len(start)} unknowns")
    lower, upper = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    ends = (np.array(np.broadcast_to(end, start.shape), dtype=np.float64) for end in (lower, upper))
    linear = ("linear",) * len(start)
    return Unknowns(names, start, *ends, linear, np.ones(len(start)))


def _as_fit(unknowns, found, cost):
    start, values = tuple(unknowns.start.tolist()), tuple(found.x.tolist())
    ended = bool(found.success), str(found.message)
    return LocalFit(0, start, values, float(cost), int(found.nfev), *ended)


class Minimum(FitResult):
    """The outcome of `minimize`: a `FitResult` without residuals, and so without profiles."""

    stored = ()

    @property
    def message(self):
        notes, active = [self._reason.rstrip(".")], self.problem.unknowns.active(self.x)
        if active:
            notes.append(f"at a bound: {', '.join(active)}; standard errors ignore bounds")
        if self.problem.constrained:
            notes.append("standard errors ignore constraints")
        return "; ".join(notes)

    @property
    def residuals(self):
        raise ModelError("a minimum has no residuals: it is not from a least-squares fit")

    residual_std = degrees = loglik = aic = bic = residuals

    @cached_property
    def _uncertainty(self):
        from numbad.operators import hessian

        problem = self.problem
        return from_hessian(hessian(problem.fun, 0)(self.x, *problem.args))

    def _half_width(self, level):
        check_level(level)
        return half_width(level, None, known_sigma=True)

    def log_posterior(self):
        raise ModelError(
            "what fit.minimize minimised is yours: where it is a negative log-density, "
            "nd.value_and_grad(fun) is what samplers take"
        )

    def profile(self, name, level=0.95):
        raise ModelError("a profile needs residuals: it is for fit_ode and least_squares")

    def summary(self):
        """Return the estimates, the value of the function, and why it stopped, as text."""
        return minimum_table(self)

    __repr__ = __str__ = summary


@dataclass(frozen=True)
class _Objective:
    """The problem of `minimize`."""

    fun: object
    args: tuple
    unknowns: Unknowns
    constrained: bool = False
    levels = None

"""One local fit: SciPy's `least_squares` with exact Jacobians, from one start."""

import math
from dataclasses import dataclass, replace

import numpy as np

from numbad.errors import ConvergenceError, IntegrationError, ModelError
from numbad.fit.noise import Weighted
from numbad.fit.robust_losses import of_data_alone

# What a model may raise where it cannot be evaluated: a solve that fails, 1 / 0, log(-1). A
# `ModelError`, a ValueError as well, says that it can be evaluated nowhere.
FAILURES = (IntegrationError, ConvergenceError, ArithmeticError, ValueError)
STUCK = "every further step led to where the model cannot be evaluated"
# Fits in turn of the unknowns and of the noise levels, until no level moves by this fraction.
MOST_ROUNDS, SETTLED = 100, 1e-8
# No level starts below this fraction of the data's size: a start may meet the data by chance.
LEAST_AT_START = 1e-2
# A singular value of the Jacobian, its columns scaled, is rounding below this fraction of the greatest.
ROUNDING = 1e-13


@dataclass(frozen=True)
class LocalFit:
    """Where a local fit started and ended, natural values in the order of the unknowns.

    `noise` are the noise levels where these are estimated, and the cost is then the negative
    log-likelihood but for a constant. A start at which the model cannot be evaluated has infinite
    cost.
    """

    index: int
    start: tuple
    values: tuple
    cost: float
    nfev: int
    success: bool
    message: str
    noise: tuple = ()


class Evaluations:
    """Residuals and Jacobian of a problem, both from one evaluation, the last one kept.

    A point where the model cannot be evaluated gets residuals that make the optimiser reject the
    step and try a shorter one: NaN for "trf", which tests for it; for MINPACK ("lm") finite ones
    whose norm is 1e6 times that at the start, above anything it has accepted. The Jacobian is never
    asked for at such a point.

    The optimiser is given k more residuals, zeros, whose derivatives are those of `held`: k is the
    number of unknowns.
    """

    def __init__(self, evaluate, first, rejected):
        self.evaluate = evaluate
        self.point, self.pair = first[0].tobytes(), first[1:]
        self.rejected = rejected
        self.failures = 0

    def _at(self, x):
        point = x.tobytes()
        if point != self.point:
            self.point, self.pair = point, attempt(self.evaluate, x) or self.rejected
            self.failures += self.pair is self.rejected
        return self.pair

    def residuals(self, x):
        return np.concatenate([self._at(x)[0], np.zeros(len(x))])

    def jacobian(self, x):
        jacobian = self._at(x)[1]
        return np.vstack([jacobian, held(jacobian)])


def held(jacobian):
    """Return rows, shape (k, k), that keep a step out of the directions that a Jacobian does not see.

    They are zero where it sees all of them. The step by least squares has no component along such a
    direction then; its length would be the quotient of two rounding errors: 1e80 in place of 0.028
    for a rate whose product with an unobserved initial value is all that the data know.
    """
    length = np.linalg.norm(jacobian, axis=0)
    length[length == 0.0] = 1.0
    rows = np.zeros((len(length), len(length)))
    # What is above the diagonal of R has the singular values, and is small where the data are many.
    _, singular, directions = np.linalg.svd(np.linalg.qr(jacobian / length, mode="r"))
    unseen = directions[np.count_nonzero(singular > ROUNDING * singular[0]) :]
    rows[: len(unseen)] = max(singular[0], 1.0) * unseen * length
    return rows


def attempt(evaluate, x):
    """Return residuals and Jacobian at x, or None where the model cannot be evaluated."""
    try:
        residuals, jacobian = evaluate(x)
    except ModelError:
        raise
    except FAILURES:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        finite = math.isfinite(residuals @ residuals + jacobian.sum())
    return (residuals, jacobian) if finite else None


def first_evaluation(problem, values):
    """Return (x, residuals, Jacobian) at natural `values`; raise `ModelError` where that fails."""
    x = problem.unknowns.internal(values)
    where = ", ".join(f"{n} = {v:.6g}" for n, v in zip(problem.unknowns.names, values, strict=True))
    try:
        residuals, jacobian = problem.evaluate(x)
    except ModelError:
        raise
    except FAILURES as error:
        raise ModelError(
            f"the model cannot be evaluated at the start ({where}): {error}"
        ) from error
    if not np.isfinite(residuals).all():
        reason = " (on the log scale it must be positive)" if problem.log else ""
        raise ModelError(f"the model is not finite{reason} at the start: {where}")
    if not np.isfinite(jacobian).all():
        unknown = problem.unknowns.names[int(np.argmin(np.isfinite(jacobian).all(axis=0)))]
        raise ModelError(f"the derivative by {unknown} is not finite at the start: {where}")
    return x, residuals, jacobian


def fit_from(problem, index, start):
    """Return the `LocalFit` from natural values `start`; raise `ModelError` if that is no start."""
    first = first_evaluation(problem, start)
    try:
        found, stuck = settle(problem, first)
    except (ValueError, ArithmeticError) as error:
        raise ModelError(f"the optimiser cannot go on from {start}: {error}") from error
    values = problem.unknowns.natural(found.x)
    return LocalFit(
        index,
        tuple(map(float, start)),
        tuple(values.tolist()),
        float(found.cost),
        int(found.nfev),
        bool(found.success and not stuck),
        STUCK if stuck else str(found.message),
        tuple(found.noise),
    )


def settle(problem, first):
    """Fit unknowns and noise levels from an evaluated point.

    Returns SciPy's result, with `noise`, and whether failures cut it short.
    """
    levels, (x, residuals, jacobian) = problem.levels, first
    if not levels:
        found, stuck = optimise(problem, first)
        found.noise = ()
        return found, stuck
    deviations = np.maximum(levels.estimate(residuals), LEAST_AT_START * levels.size)
    left, spent = problem.control.max_nfev, 0
    for _ in range(MOST_ROUNDS):
        weighted = Weighted(problem, deviations)
        weighted.control = replace(problem.control, max_nfev=left)
        found, stuck = optimise(weighted, (x, *weighted.weigh(residuals, jacobian)))
        weights = levels.weights(deviations, len(residuals))
        x, residuals, jacobian = found.x, found.fun / weights, found.jac / weights[:, None]
        before, deviations = deviations, levels.estimate(residuals)
        spent += found.nfev
        left = None if left is None else left - found.nfev
        if stuck or not found.success or np.allclose(deviations, before, rtol=SETTLED, atol=0.0):
            break
        if left is not None and left < 1:
            found.success, found.message = False, "max_nfev evaluations, and no end"
            break
    else:
        found.success, found.message = False, "the noise levels do not settle"
    found.fun, found.jac = Weighted(problem, deviations).weigh(residuals, jacobian)
    found.cost, found.noise = cost_at(problem, residuals), deviations.tolist()
    found.nfev = spent
    return found, stuck


def cost_at(problem, residuals):
    """Return the cost of residuals with the most likely noise levels; the loss is linear."""
    levels = problem.levels
    if not levels:
        return 0.5 * float(residuals @ residuals)
    deviations = levels.estimate(residuals)
    weighted = residuals * levels.weights(deviations, len(residuals))
    return 0.5 * float(weighted @ weighted) + levels.penalty(deviations)


def optimise(problem, first):
    """Run SciPy from an evaluated point; return its result and whether failures cut it short."""
    from scipy.optimize import least_squares

    control, unknowns = problem.control, problem.unknowns
    further = dict(control.options)
    plain = control.loss == "linear" and not unknowns.bounded
    method = further.pop("method", "lm" if plain else "trf")
    plain = method == "lm"
    residuals, jacobian = first[1:]
    norm = math.sqrt(residuals @ residuals)
    fill = 1e6 * (1.0 + norm) / math.sqrt(len(residuals)) if plain else math.nan
    rejected = np.full_like(residuals, fill), np.zeros_like(jacobian)
    evaluations = Evaluations(problem.evaluate, first, rejected)
    found = least_squares(
        evaluations.residuals,
        first[0],
        jac=evaluations.jacobian,
        method=method,
        bounds=(-np.inf, np.inf) if plain else tuple(unknowns.internal_bounds),
        x_scale=further.pop("x_scale", "jac"),
        loss=of_data_alone(control.loss, len(residuals) - len(problem.priors or ())),
        f_scale=control.f_scale,
        ftol=control.ftol,
        xtol=control.xtol,
        # Without bounds this is the cosine between residuals and model; with them SciPy takes it
        # for an absolute size of the gradient, which small data have at any start.
        gtol=control.gtol if plain else None,
        max_nfev=control.max_nfev,
        **further,
    )
    found.fun, found.jac = found.fun[: len(residuals)], found.jac[: len(residuals)]
    stuck = evaluations.failures and not _stationary(found, unknowns, residuals)
    return found, bool(stuck)


def _stationary(found, unknowns, first):
    """Whether no single unknown, moved within its bounds, could lower the cost noticeably.

    Noticeably: by 1e-8 of it, as the Gauss-Newton model has it. A fit whose steps fail at the edge
    of where the model can be evaluated stops for want of progress, but not at such a point.
    """
    curvature = np.einsum("ij,ij->j", found.jac, found.jac)
    curvature[curvature == 0.0] = np.inf
    moved = np.clip(found.x - found.grad / curvature, *unknowns.internal_bounds)
    gain = np.max(np.abs(found.grad * (moved - found.x)))
    return gain <= 1e-8 * found.cost + 1e-16 * (first @ first)

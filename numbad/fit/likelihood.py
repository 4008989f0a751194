"""The likelihood of a series under an SDE as a problem of many starts, and the search for its maximum."""

import hashlib
import pickle
from functools import cached_property

import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target

from numbad.compilation.caching import jit, user_jit
from numbad.compilation.fingerprint import fingerprint
from numbad.compilation.memo import built_once, look_again, made_of
from numbad.errors import ModelError
from numbad.fit.local import FAILURES, LocalFit
from numbad.fit.problem import digest, remembered
from numbad.sde.hidden_state import HiddenState
from numbad.sde.state_source import returned
from numbad.source import define

_NEGLIGIBLE = 1e-10  # of log-likelihood
_GRADIENT = 1e-6
_MOST_STEPS = 500


class LikelihoodProblem:
    """The problem of `fit_sde`: its negative log-likelihood, and derivatives by internal coordinates.

    `held` is name -> value of the parameters that are not sought. What `run_starts` wants of a problem.
    """

    levels = None

    def __init__(self, density, names, unknowns, held, times, values):
        from numbad.operators import grad, hessian, jacobian, value_and_grad

        self.contents = density, names, unknowns, held, times, values
        self.unknowns, self.fixed = unknowns, held
        start = held | dict(zip(unknowns.names, unknowns.start.tolist(), strict=True))
        by_series = isinstance(density, HiddenState)
        if by_series:
            whole = density.log_likelihood(times, values, [start[name] for name in names])
            self.count = density.count(times, values)
        else:
            compiled, self.count = _compiled(density), len(values) - 1
            found = returned(
                cpu_target.typing_context, compiled, (types.float64,) * (4 + len(names))
            )
            if not isinstance(found, types.Float | types.Integer):
                raise ModelError(f"the density must return a number, its logarithm, not {found}")
            whole = _over_transitions(compiled, len(names))
        self.counted = density.counted if by_series else "transitions"
        self.hidden = density if by_series and density.tells_states else None
        self.args = times, values, np.array([held[name] for name in names if name in held])
        fun = self.fun = _misfit(whole, names, unknowns.names, unknowns.transforms)
        # Both modes run equally fast for a handful of parameters; for a filter forward mode compiles in a
        # third.
        if by_series:
            self.gradient = value_and_grad(fun, 0, mode="forward")
            self.curvature = jacobian(grad(fun, 0, mode="forward"), 0, mode="forward")
        else:
            self.gradient, self.curvature = value_and_grad(fun, 0), hessian(fun, 0)

    def check(self, start):
        """Raise `ModelError` where the likelihood cannot be evaluated at natural values."""
        try:
            value = self.fun(self.unknowns.internal(start), *self.args)
        except ModelError:
            raise
        except FAILURES as error:
            raise ModelError(f"the log-likelihood fails at the start: {error}") from error
        if not np.isfinite(value):
            raise ModelError(
                f"the log-likelihood at the start is {-value}: the density there must be positive and finite"
            )

    def fit_from(self, index, start):
        """Return the `LocalFit` from natural values `start`; raise `ModelError` if that is no start."""
        self.check(start)
        x = self.unknowns.internal(start)
        found = self._bounded(x) if self.unknowns.bounded else self._free(x)
        values = tuple(self.unknowns.natural(found.x).tolist())
        ended = found.success, found.message
        start = tuple(map(float, start))
        return LocalFit(index, start, values, float(found.fun), int(found.nfev), *ended)

    def held_at(self, x, others):
        """The coordinates `others` fitted from where they are in x: `(x, cost)`."""
        from scipy.optimize import minimize

        x = np.array(x)

        def cost(free):
            x[others] = free
            found, slope = self._value(x)
            return (found, slope[others]) if np.isfinite(found) else (1e300, np.zeros(others.sum()))

        if self.unknowns.bounded:
            ended = self._bounded(x, others)
            return ended.x, float(ended.fun)
        ended = minimize(cost, x[others], jac=True, method="BFGS", options={"gtol": _GRADIENT})
        x[others] = ended.x
        return x, float(ended.fun)

    def _value(self, x):
        """Cost and gradient; infinite where there are none: a step there is one that is too long."""
        try:
            value, slope = self.gradient(np.array(x), *self.args)
        except ModelError:
            raise
        except FAILURES:
            return np.inf, np.zeros(len(x))
        return (np.inf if np.isnan(value) else value), slope

    def _free(self, x):
        from scipy.optimize import minimize

        found = minimize(
            self._value,
            x,
            jac=True,
            hess=lambda x: self.curvature(np.array(x), *self.args),
            method="trust-exact",
            options={"gtol": _GRADIENT, "maxiter": _MOST_STEPS},
        )
        found.success, found.message = _verdict(found)
        return found

    def _bounded(self, x, others=None):
        """Newton's method within the bounds, damped where the cost does not fall; `others` may move."""
        from scipy.optimize import OptimizeResult

        lower, upper = self.unknowns.internal_bounds
        movable = np.ones(len(x), bool) if others is None else others
        x, damping = np.clip(x, lower, upper), 0.0
        cost, slope = self._value(x)
        curvature = self.curvature(np.array(x), *self.args)
        success, message = False, "Maximum number of iterations has been exceeded."
        for evaluations in range(1, _MOST_STEPS):  # noqa: B007 (how many)
            stopped = ((x <= lower) & (slope > 0.0)) | ((x >= upper) & (slope < 0.0))
            free = movable & ~stopped
            if not free.any() or np.linalg.norm(slope[free]) < _GRADIENT:
                success, message = True, "Optimization terminated successfully."
                break
            step, gain, convex = _newton(curvature[np.ix_(free, free)], slope[free], damping)
            if convex and gain < _NEGLIGIBLE:
                success, message = True, "No step promises a larger log-likelihood."
                break
            new = np.array(x)
            new[free] = np.clip(x[free] + step, lower[free], upper[free])
            found, slope_there = self._value(new)
            expected = slope @ (new - x)
            if (
                expected < 0.0
                and found <= cost + 1e-4 * expected
                and np.isfinite(slope_there).all()
            ):
                x, cost, slope = new, found, slope_there
                curvature = self.curvature(np.array(x), *self.args)
                damping = 0.0 if damping < 1e-3 else 0.1 * damping
            elif (new == x).all():
                message = "A bad approximation caused failure to predict improvement."
                break
            else:
                damping = max(10.0 * damping, 1e-3)
        return OptimizeResult(x=x, fun=cost, nfev=evaluations, success=success, message=message)

    @cached_property
    def digests(self):
        """Digests of model, data and options: what has to agree for two fits to be the same."""
        density, names, unknowns, held, times, values = self.contents
        parts = (
            vars(density).values() if isinstance(density, HiddenState) else (_compiled(density),)
        )
        plain = [part for part in parts if not isinstance(part, Dispatcher)]
        functions = [part for part in parts if isinstance(part, Dispatcher)]
        codes = [fingerprint(function) for function in functions]
        if None in codes:
            raise ModelError(
                f"a journal must know {functions[codes.index(None)].__name__} again, but it "
                "uses a global or closure variable whose content cannot be told"
            )
        box = tuple(getattr(unknowns, name).tobytes() for name in ("start", "lower", "upper"))
        return {
            "model or version": digest(type(density).__name__, codes, plain, names),
            "data": digest(times.tobytes(), values.shape, values.tobytes()),
            "unknowns": digest(unknowns.names, box, unknowns.transforms, held),
        }

    @cached_property
    def _payload(self):
        density, *rest = self.contents
        try:
            blob = pickle.dumps(
                (density if isinstance(density, HiddenState) else _compiled(density), *rest)
            )
        except Exception as error:
            raise ModelError(f"this model cannot be sent to another process: {error}") from error
        return hashlib.sha256(blob).hexdigest(), blob

    def __reduce__(self):
        return _restore, self._payload

    def prepare_to_travel(self):
        """Do now what pickling needs, so that forked workers find the problem compiled."""
        return remembered(self._payload[0], lambda: self)


def _restore(key, blob):
    """The problem of a pickle: one for each process, so that it compiles once."""
    return remembered(key, lambda: LikelihoodProblem(*pickle.loads(blob)))


def _newton(curvature, slope, damping):
    """A step that descends, what an undamped one would gain, and whether the curvature is positive."""
    values, vectors = np.linalg.eigh(curvature)
    size = max(np.abs(values).max(), 1e-300)
    steep, along = np.maximum(np.abs(values), 1e-12 * size), vectors.T @ slope
    step = -vectors @ (along / (steep + damping * size))
    return step, float(0.5 * (along**2 / steep).sum()), bool(values.min() > 0.0)


def _verdict(found):
    """Whether SciPy's search converged, and what it says of it.

    It also gives up where rounding hides what a further step would gain. The maximum is found, too, where
    the quadratic there promises less than `_NEGLIGIBLE` of log-likelihood.
    """
    from scipy.linalg import cho_factor, cho_solve

    if found.success or not np.isfinite(found.hess).all():
        return bool(found.success), str(found.message)
    try:
        step = cho_solve(cho_factor(found.hess), found.jac)
    except np.linalg.LinAlgError:  # no maximum there
        return False, str(found.message)
    if 0.5 * found.jac @ step < _NEGLIGIBLE:
        return True, "No step promises a larger log-likelihood."
    return False, str(found.message)


def _compiled(density):
    if isinstance(density, Dispatcher):
        look_again(density)
        return density
    return made_of(density, "density", user_jit(error_model="numpy"))


@built_once(lambda density, _: density)
def _over_transitions(density, count):
    """`log_likelihood(t, y, *parameters)`: the sum over transitions."""
    parameters = ", ".join(f"p{k}" for k in range(count))
    text = (
        f"def log_likelihood(t, y, {parameters}):\n"
        "    total = 0.0\n"
        "    for i in range(1, t.size):\n"
        f"        total += density(t[i - 1], y[i - 1], t[i], y[i], {parameters})\n"
        "    return total\n"
    )
    return jit(error_model="numpy")(define(text, {"density": density}))


@built_once(lambda whole, *_: whole)
def _misfit(whole, names, free, transforms):
    """The negative log-likelihood of internal coordinates, `misfit(x, t, y, held)`."""
    places, held = {name: k for k, name in enumerate(free)}, iter(range(len(names)))
    entries = []
    for name in names:
        if name not in places:
            entries.append(f"held[{next(held)}]")
        else:
            x = f"x[{places[name]}]"
            entries.append(f"np.exp({x})" if transforms[places[name]] == "log" else x)
    parameters = ", ".join(f"p{k}" for k in range(len(names)))
    lines = [
        "def misfit(x, t, y, held):",
        *(f"    p{k} = {entry}" for k, entry in enumerate(entries)),
        f"    return -log_likelihood(t, y, {parameters})",
    ]
    namespace = {"np": np, "log_likelihood": whole}
    return jit(error_model="numpy")(define("\n".join(lines) + "\n", namespace))

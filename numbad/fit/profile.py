"""Profile likelihood intervals."""

import warnings
from dataclasses import dataclass

import numpy as np

from numbad.errors import ModelError, NumbadWarning
from numbad.fit.local import attempt, cost_at, settle
from numbad.fit.uncertainty import half_width

# How far the search for an end goes, in half widths of the usual interval, before that is open.
FARTHEST = 1e3
# A cost lower than the optimum's by more than this fraction is another, better optimum.
BETTER = 1e-6
# At the end of an interval the root of the cost is the threshold's, but for this fraction, or it jumps.
JUMP = 1e-2


@dataclass(frozen=True)
class Profile:
    """The interval of one unknown, natural scale, and the points at which the cost was profiled.

    An end is infinite (0 below, on the log scale) where the cost never rises to the threshold, that
    of the bound where the bound comes first. `costs[i]` is the lowest cost with the unknown held at
    `values[i]`.
    """

    name: str
    value: float
    low: float
    high: float
    level: float
    threshold: float
    values: tuple
    costs: tuple

    def __repr__(self):
        return (
            f"{self.name}: {self.value:.5g}, {100 * self.level:g} % profile interval "
            f"{self.low:.5g} to {self.high:.5g}"
        )


def profile(result, name, level=0.95):
    """Return the `Profile` of an unknown: the values that the data do not reject.

    With the unknown held, the others are fitted anew; the interval ends where that cost, half a sum
    of squares, exceeds its minimum by half of s^2 F(level; 1, m - k), the variance s^2 being
    estimated from the residuals (D. M. Bates & D. G. Watts, Nonlinear Regression Analysis and Its
    Applications, 1988, section 6.1), or by half of chi^2(level; 1) where sigma is absolute
    (A. Raue et al., Bioinformatics 25, 2009, 1923-1929). Where noise levels are estimated, they are
    fitted anew, too, and the cost, the negative log-likelihood, may rise by half of F(level; 1, m - k).
    """
    names, problem = result.names, result.problem
    if name not in names:
        raise ModelError(f"no unknown is called {name!r}, only {', '.join(names)}")
    if not 0.0 < level < 1.0:
        raise ModelError(f"level must be between 0 and 1, got {level!r}")
    if problem.control.loss != "linear":
        raise ModelError(f"a profile needs loss='linear': {problem.control.loss} is no likelihood")
    width = half_width(level, result.degrees, problem.control.known_sigma)
    likelihood = problem.control.known_sigma or problem.levels
    threshold = 0.5 * (width * (1.0 if likelihood else result.residual_std)) ** 2
    if not threshold > 0.0:
        raise ModelError("a profile needs more observations than unknowns, or absolute sigma")
    search = _ProfileSearch(result, names.index(name), threshold, width)
    low, high = search.end(-1.0), search.end(1.0)
    values, costs = zip(*sorted(search.points.items()), strict=True)
    value = float(result.x[search.index])
    return Profile(name, value, low, high, level, threshold, values, costs)


def is_better(found, cost, size):
    """Whether a cost is lower than the optimum's by more than rounding; `size` is that of costs."""
    return found - cost < -BETTER * max(size, 1e-300)


def better_told(name, value, found, cost):
    """What to say of a lower cost that a profile finds."""
    return (
        f"the profile of {name} found a better fit: cost {found:.8g} at {value:.6g}, not {cost:.8g}; fit "
        "again from there"
    )


class _Held:
    """A problem with one unknown held at internal coordinate `value`."""

    def __init__(self, problem, index, value):
        self.problem, self.index, self.value = problem, index, value
        self.control, self.levels, self.priors = problem.control, problem.levels, problem.priors
        self.keep = np.arange(len(problem.unknowns)) != index
        self.unknowns = problem.unknowns.without(index)

    def evaluate(self, others):
        residuals, jacobian = self.problem.evaluate(np.insert(others, self.index, self.value))
        return residuals, np.ascontiguousarray(jacobian[:, self.keep])


class _ProfileSearch:
    """The cost with one unknown held, as a function of it, and where it crosses the threshold."""

    def __init__(self, result, index, threshold, width):
        self.problem, self.unknowns = result.problem, result.problem.unknowns
        self.index, self.threshold, self.name = index, threshold, result.names[index]
        self.values, self.best = result.x, self.unknowns.internal(result.x)
        self.cost = result.cost
        self.points = {float(result.x[index]): float(result.cost)}
        cov = result._uncertainty.cov
        deviation = np.sqrt(cov[index, index])
        tilt = np.zeros(len(self.best))
        if np.isfinite(deviation) and deviation > 0.0:
            self.reach = width * deviation
            # Where the others go as the held one moves: along the valley of the quadratic model.
            tilt = np.nan_to_num(cov[:, index] / deviation**2)
        else:
            self.reach = 0.1 * max(abs(self.best[index]), 1.0)
        self.tilt = np.delete(tilt, index)

    def end(self, sign):
        """Return the end of the interval on one side, natural scale."""
        self.known, self.optima = {0.0: -np.sqrt(self.threshold)}, {0.0: self._others(self.best)}
        limit = self.unknowns.internal_bounds[int(sign > 0.0), self.index]
        room = sign * (limit - self.best[self.index])
        inside, outside = 0.0, min(self.reach, room)
        while True:
            while outside > 0.0 and self.excess(sign * outside) <= 0.0:
                if outside > FARTHEST * self.reach:
                    return self._natural(sign * np.inf)
                inside, outside = outside, min(2.0 * outside, room)
                if inside == outside:
                    break
            if inside == outside:
                return self._natural(limit)
            found = self._crossing(sign, inside, outside)
            if abs(self.excess(sign * found)) <= JUMP * np.sqrt(self.threshold):
                return self._at(sign * found)
            # The cost jumps: what is beyond may have been fitted to a minimum that is not the lowest.
            inside = max(abs(d) for d, excess in self.known.items() if excess <= 0.0)
            beyond = [d for d in self.known if inside < sign * d < outside]
            del self.known[sign * outside]
            if self.excess(sign * outside) > 0.0:
                return self._at_jump(sign, inside)
            for distance in beyond:
                del self.known[distance], self.points[self._at(distance)]

    def _crossing(self, sign, inside, outside):
        from scipy.optimize import brentq

        tolerance = {"xtol": 1e-7 * outside, "rtol": 1e-9}
        return brentq(lambda d: self.excess(sign * d), inside, outside, **tolerance)

    def _at_jump(self, sign, inside):
        end = self._at(sign * inside)
        beyond = min((d for d in self.known if sign * d > inside), key=abs)
        if np.isfinite(self.points[self._at(beyond)]):
            warnings.warn(
                f"the profile of {self.name} ends at {end:.6g}, where its cost jumps: the fits of the "
                "other unknowns beyond may have ended in a minimum that is not the lowest, and the interval "
                "be wider",
                NumbadWarning,
                stacklevel=5,
            )
        return end

    def excess(self, distance):
        """Return sqrt(rise of the cost) - sqrt(threshold): nearly linear in the distance."""
        if distance not in self.known:
            self.known[distance] = self._excess(distance)
        return self.known[distance]

    def _excess(self, distance):
        cost = self._profiled(distance)
        self.points[self._at(distance)] = float(cost)
        rise = cost - self.cost
        size = self.problem.count if self.problem.levels else self.cost
        if is_better(cost, self.cost, size):
            raise ModelError(better_told(self.name, self._at(distance), cost, self.cost))
        return min(np.sqrt(max(rise, 0.0)), 1e3 * np.sqrt(self.threshold)) - np.sqrt(self.threshold)

    def _profiled(self, distance):
        """Return the lowest cost with the unknown held; infinite where it cannot be evaluated.

        A cost above the threshold, which ends the interval, is believed after all starts have been tried.
        """
        problem = _Held(self.problem, self.index, self.best[self.index] + distance)
        if not len(problem.unknowns):
            pair = attempt(problem.evaluate, np.empty(0))
            return np.inf if pair is None else cost_at(problem, pair[0])
        lowest = np.inf
        for guess in self._starts(distance, problem.unknowns.internal_bounds):
            pair = attempt(problem.evaluate, guess)
            if pair is None:
                continue
            found, stuck = settle(problem, (guess, *pair))
            if found.cost < lowest:
                lowest = float(found.cost)
                self.optima[distance] = found.x
            if found.success and not stuck and lowest - self.cost <= self.threshold:
                break
        return lowest

    def _starts(self, distance, bounds):
        """Yield where the fits of the others start: from the nearest optima, along the valley and not."""
        inside = [d for d in self.optima if self.known.get(d, 1.0) <= 0.0]
        given = dict.fromkeys(
            min(some, key=lambda d: abs(d - distance))
            for some in (inside, [d for d in self.optima if d != distance])
        )
        for at in given:
            for tilt in (self.tilt, 0.0):
                yield np.clip(self.optima[at] + tilt * (distance - at), *bounds)

    def _others(self, values):
        return np.delete(values, self.index)

    def _at(self, distance):
        """Return the natural value at a distance from the best one."""
        return self._natural(self.best[self.index] + distance)

    def _natural(self, value):
        return self.unknowns.natural_at(self.index, value, self.values)

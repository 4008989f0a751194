"""What `solve_ivp` returns, with SciPy's names and shapes."""

import numpy as np


class OdeResult(dict):
    """The result of `solve_ivp`: a dictionary whose items are attributes, too.

    Attributes
    ----------
    t : ndarray, shape (m,)
        Times of the output.
    y : ndarray, shape (n, m)
        Solution at `t`.
    sol : OdeSolution or None
        The solution as a function of time, with `dense_output=True`.
    t_events, y_events : list of ndarray, or None
        Times of each event, and the states there, shape (count, n).
    nfev, njev, nlu : int
        Evaluations of the right-hand side, of its Jacobian, and LU decompositions. Looks of "RadauIIA5",
        "Rodas5P" and "Rodas4" at what interpolates a step, two at most, are not among them.
    status : int
        0: the end of the interval was reached; 1: an event ended the solution; -1: the integration failed.
    message : str
        What happened, with the time where it failed.
    success : bool
        Whether the end was reached, or an event that is one.
    """

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__

    def __dir__(self):
        return list(self)

    def __repr__(self):
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:>{width}}: {value!r}" for name, value in self.items())


class OdeSolution:
    """The solution of an ODE as a function of time, like SciPy's.

    Calling it with a time gives the state, shape (n,); with an array of m times, the states, shape
    (n, m). Between steps it is the method's interpolant; beyond the ends, that of the last step.

    Attributes
    ----------
    ts : ndarray, shape (steps + 1,)
        The ends of the steps.
    t_min, t_max : float
        The ends of the interval.
    """

    def __init__(self, ts, states, slopes, interpolant, end):
        self._ends = ts  # of the steps, whose last may go on beyond an event
        ts = self.ts = np.append(ts[:-1], end)
        self.t_min, self.t_max = min(ts[0], ts[-1]), max(ts[0], ts[-1])
        self._states = states
        weights = np.asarray(interpolant)
        slopes = slopes.reshape(len(ts) - 1, len(weights), states.shape[1])
        # y(t + theta h) = y + h sum_j coefficients[:, j] theta**(j + 1)
        self._coefficients = np.einsum("ksn,sp->kpn", slopes, weights)

    def __call__(self, t):
        t = np.asarray(t, dtype=float)
        if t.ndim > 1:
            raise ValueError("t must be a float or a one-dimensional array")
        if len(self.ts) == 1:
            return np.repeat(self._states.T, t.size, axis=1).reshape(-1, *t.shape)
        times = np.atleast_1d(t)
        step = self._step(times)
        h = self._ends[step + 1] - self._ends[step]
        theta = (times - self.ts[step]) / h
        powers = theta[:, None] ** np.arange(1, self._coefficients.shape[1] + 1)
        moved = np.einsum("kp,kpn->kn", powers, self._coefficients[step])
        y = self._states[step] + h[:, None] * moved
        at_node = times == self._ends[step + 1]
        y[at_node] = self._states[step + 1][at_node]
        return y.T if t.ndim else y[0]

    def _step(self, times):
        """The number of the step that each time belongs to."""
        forward = self.ts[-1] > self.ts[0]
        if forward:
            found = np.searchsorted(self.ts, times, side="left") - 1
        else:
            found = len(self.ts) - 1 - np.searchsorted(self.ts[::-1], times, side="right")
        return np.clip(found, 0, len(self.ts) - 2)

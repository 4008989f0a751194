"""`ensemble`: many trajectories of one solver on a GPU, one in each thread."""

import warnings
from collections import namedtuple

import numpy as np

from numbad.cuda.kernels import DOUBLE, SINGLE, Kernel
from numbad.cuda.trajectories.accelerator import Accelerator
from numbad.cuda.trajectories.averages import means
from numbad.cuda.trajectories.given import Absent, Given, state_of
from numbad.cuda.trajectories.kernel_source import RAISED, survey
from numbad.cuda.trajectories.ode_march import OdePlan
from numbad.cuda.trajectories.sde_march import SdePlan
from numbad.cuda.trajectories.seeds import chosen, chunk_size, passes
from numbad.errors import ArgumentError, IntegrationError, NumbadWarning
from numbad.ode.adjoints.dispatcher import SolverDispatcher
from numbad.sde.solution_operator import SolveDispatcher

Trajectories = namedtuple("Trajectories", "ys derivatives status")
Trajectories.__doc__ = """What `ensemble` returns.

`ys`, shape (trajectories, len(ts), n): the solutions, NaN from the output on that a trajectory failed to
reach. `derivatives`, shape (trajectories, len(ts), n, numbers), with an entry for each number that was asked
for, in order; None where none was. `status`, shape (trajectories,): 0 where a trajectory reached its end.
"""

Means = namedtuple("Means", "mean error derivatives paths failed")
Means.__doc__ = """What `ensemble` returns with reduce="mean".

`mean` of the solutions and its standard `error`, shape (len(ts), n); the mean of `derivatives`, shape
(len(ts), n, numbers), or None; how many `paths` they are over, those that reached their end; `failed`: the
number of the first that did not, -1 if all did.
"""

_WAY_OUT = (
    "On the CPU, what nd.ode.solver returned goes into a loop over numba.prange; for an SDE there is "
    "nd.sde.ensemble"
)


def ensemble(
    solve,
    y0s,
    ts,
    args=(),
    keys=None,
    *,
    derivatives=None,
    precision=None,
    reduce=None,
    stream=None,
):
    """Integrate many trajectories on the GPU, one in each thread.

    Parameters
    ----------
    solve : dispatcher
        From `nd.ode.solver`: an explicit Runge-Kutta method, adaptive or with steps of one size. Or from
        `nd.sde.solver`: a method that solves no equations. Their functions return floats or tuples.
    y0s : array, float or tuple
        Initial states: an array (trajectories, n), of which `fun` gets a row as a tuple of n floats; for
        scalar states a float or an array (trajectories,); or a tuple or namedtuple of such, one for each
        component.
    ts : array or tuple of floats
        Output times, the same for all trajectories, as `solve` takes them.
    args : tuple
        Further arguments of `fun`: numbers for all trajectories, or arrays with a row for each: shape
        (trajectories,) gives `fun` a number, (trajectories, m) a tuple of m. Arrays of one row are for all.
        Tuples and namedtuples of these may be nested.
    keys : numpy.uint64 or array of such
        For an SDE: a key from `nd.random.key`, of which trajectory i is path i, as `solve(y0, ts, args, (key,
        i))`; or an array of keys, of which each trajectory has its own, as `solve(y0, ts, args, key)`.
    derivatives : None, "y0", "args", int, or a tuple of these
        What to differentiate by, in forward mode: all components of the initial state; all floats among
        `args`; the floats in `args[k]`. Integers are constants.
    reduce : None or "mean"
        "mean": the means over trajectories, on the GPU; none is copied from there.
    precision : None, "float32" or "float64"
        In which all is computed, literals in `fun` included; None: that of `y0s`. In float32 the tolerances
        of the solver should not be below 1e-6.
    stream : stream of Numba, CuPy or PyTorch, optional
        Where the work is queued. Where arrays on the GPU come back, the call does not wait for it, nor look
        for failures: look at `status`.

    Returns
    -------
    Trajectories, or Means
        `(ys, derivatives, status)`, NumPy arrays; where one of `y0s` and `args` is an array on the GPU (of
        CuPy, PyTorch, Numba: anything with `__cuda_array_interface__`), arrays on the GPU. With `reduce`,
        `(mean, error, derivatives, paths, failed)`, in any case of NumPy.

    Raises
    ------
    DeviceError
        where there is no GPU.
    UnsupportedError
        for solvers that there is no code for on a GPU, and functions that numba-cuda does not compile.
    ArgumentError
        for arrays that do not fit, or that are on the GPU in another precision.
    DataError
        for times that do not increase or decrease, in the precision asked for.
    IntegrationError
        where every trajectory failed. Where some did, a warning counts them and tells of the first; the
        others are as they are without them.

    Notes
    -----
    The steps are those of `solve` on the CPU, from the same code, up to rounding: a GPU contracts products
    and sums. Normal numbers are the CPU's to the last bit; in float32 they are made of 32 random bits in
    place of 52 and differ by some 1e-7, by up to 3e-4 where they are next to zero. Nothing is allocated in a
    thread, and states stay in registers: ensembles are for small systems.
    """
    if reduce not in (None, "mean"):
        raise ArgumentError(f"nd.cuda.ensemble: reduce is None or 'mean', not {reduce!r}")
    plan = plan_of(solve)
    device = Accelerator(stream)
    device.need("nd.cuda.ensemble", _WAY_OUT)
    return Request(plan, device, y0s, args, keys, precision, derivatives, reduce).run(ts)


def plan_of(solve):
    """What a solver solves; ArgumentError for what is none."""
    if isinstance(solve, SolverDispatcher):
        return OdePlan.of(*solve.origin)
    if isinstance(solve, SolveDispatcher):
        return SdePlan.of(*solve.origin)
    raise ArgumentError(
        "nd.cuda.ensemble takes what nd.sde.solver or nd.ode.solver returned, without events, tstops and "
        f"keep_events; not {solve!r}"
    )


class Request:
    """One call: what is given, brought to the device, and what comes back."""

    def __init__(self, plan, device, y0s, args, keys, precision, derivatives=None, reduce=None):
        self.plan, self.device, self.reduce = plan, device, reduce
        self.given = Given(device)
        self.y0, self.width = state_of(self.given.structure(y0s, "y0s"))
        states = [array.dtype for array in self.given.arrays]
        self.args = self.given.structure(args, "args")
        self.keys = Absent() if keys is None else self.given.structure(keys, "keys")
        self.precision = checked_precision(precision, states)
        self.count = self.given.count()
        self.by = chosen(derivatives, self.y0, self.args)

    def run(self, ts):
        """The trajectories at output times."""
        plan, device, precision = self.plan, self.device, self.precision
        times = plan.times(ts, precision)
        plan.check(self._first(self.y0), times, self._first(self.args))
        ys = device.empty((len(times), self.width, self.count), precision)
        slopes = device.empty((len(times), self.width, len(self.by), self.count), precision)
        status = device.empty((self.count,), np.int32)
        stopped = device.empty((self.count,), precision)
        given = [*self._leaves(), *self._on_device(plan.arguments(times)), status, stopped, ys]
        for kernel in self.kernels(times):
            device.launch(kernel, [*given, slopes] if self.by else given, self.count)
        failed, first = self._survey(status, ys, slopes)
        if failed:
            self._tell(failed, first, status, stopped, times)
        if self.reduce is not None:
            return self._means(ys, slopes, status, first if failed else -1)
        return self._result(ys, slopes, status)

    def kernels(self, times):
        """The kernels of all passes, of which the first has the values as well."""
        chunk = chunk_size(self.plan.states(times, self.width), self.width, self.precision)
        given = self.y0, self.args, self.keys, times, self.precision
        return [self.plan.kernel(*given, seeds) for seeds in passes(self.by, chunk)]

    def _first(self, structure):
        """A structure, and what the first trajectory is given."""
        arrays = {leaf.number: self.given.arrays[leaf.number][:1] for leaf in structure.leaves()}
        resident = self.device.is_resident
        rows = {k: self.device.fetched(a) if resident(a) else a for k, a in arrays.items()}
        return structure, structure.first(rows)

    def _leaves(self):
        """The leaves on the device; ArgumentError for one that is there in another precision."""
        for array in self.given.arrays:
            kind = np.dtype(array.dtype).kind
            dtype = np.dtype({"f": self.precision, "i": "int64", "u": "uint64", "b": "bool"}[kind])
            if not self.device.is_resident(array):
                yield self.device.copied(array, dtype)
            elif array.dtype == dtype:
                yield array
            else:
                raise ArgumentError(
                    f"an array on the GPU has the dtype {array.dtype} where this ensemble takes {dtype}: "
                    "convert it there, or give precision="
                )

    def _on_device(self, arrays):
        for array in arrays:
            floats = array.dtype.kind == "f"
            yield self.device.copied(array, self.precision if floats else array.dtype)

    def _survey(self, status, ys, slopes):
        """How many trajectories failed, and the first; not known where nobody waits."""
        found = self.device.copied(np.array([0, self.count]), np.int32)
        self.device.launch(_surveys[self.precision], [status, ys, slopes, found], self.count)
        queued = self.device.stream and self.given.resident and self.reduce is None
        return (0, 0) if queued else self.device.fetched(found)

    def _tell(self, failed, first, status, stopped, times):
        """Warn of trajectories that failed; IntegrationError where none is left."""
        at = slice(first, first + 1)
        code = int(self.device.fetched(status[at])[0])
        place = float(self.device.fetched(stopped[at])[0])
        why = "fun raised an exception" if code == RAISED else self.plan.told(code, place, times)
        told = f"{failed} of {self.count} trajectories failed; the first is number {first}: {why}"
        if failed == self.count:
            raise IntegrationError(told)
        warnings.warn(f"{told}. The others are right", NumbadWarning, stacklevel=4)

    def _means(self, ys, slopes, status, failed):
        count, mean, error = means(self.device, status, ys, self.precision)
        by = means(self.device, status, slopes, self.precision)[1] if self.by else None
        return Means(mean, error, by, count, failed)

    def _result(self, ys, slopes, status):
        if self.given.resident:
            turned = [self.device.trajectories_first(table) for table in (ys, slopes)]
            return Trajectories(turned[0], turned[1] if self.by else None, status)
        found = self.device.fetched(ys).transpose(2, 0, 1)
        partials = self.device.fetched(slopes).transpose(3, 0, 1, 2) if self.by else None
        return Trajectories(found, partials, self.device.fetched(status))


def checked_precision(precision, states):
    """ "float32" or "float64"; None asks for that of the initial states."""
    if precision is None:
        return SINGLE if states and all(dtype == np.float32 for dtype in states) else DOUBLE
    try:
        name = np.dtype(precision).name
    except TypeError:
        name = None
    if name not in (SINGLE, DOUBLE):
        raise ArgumentError(f"precision must be {SINGLE!r} or {DOUBLE!r}, not {precision!r}")
    return name


def _survey_kernel(precision):
    from numba.core import types

    scalar = {SINGLE: types.float32, DOUBLE: types.float64}[precision]
    tables = types.Array(scalar, 3, "C"), types.Array(scalar, 4, "C")
    given = types.int32[::1], *tables, types.int32[::1]
    return Kernel(survey, given)


_surveys = {precision: _survey_kernel(precision) for precision in (SINGLE, DOUBLE)}

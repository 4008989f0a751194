"""`ensemble`: many trajectories of one solver on a GPU, one in each thread."""

import numpy as np

from numbad.cuda.kernels import DOUBLE, SINGLE
from numbad.cuda.trajectories.accelerator import Accelerator
from numbad.cuda.trajectories.averages import Averages
from numbad.cuda.trajectories.collection import OnDevice, OnHost, Portion
from numbad.cuda.trajectories.given import Absent, Given, state_of
from numbad.cuda.trajectories.losses import LossGradient
from numbad.cuda.trajectories.lost_trajectories import LostTrajectories
from numbad.cuda.trajectories.ode_march import OdePlan, is_with_events
from numbad.cuda.trajectories.path_losses import PathLossGradient
from numbad.cuda.trajectories.path_numbers import PathNumbers
from numbad.cuda.trajectories.portions import checked_block, portion, portions, progress_bar
from numbad.cuda.trajectories.quantile import QuantileSearch
from numbad.cuda.trajectories.sde_march import SdePlan
from numbad.cuda.trajectories.seeds import chosen, chunk_size, passes
from numbad.cuda.trajectories.shares import Asked, shares
from numbad.errors import ArgumentError
from numbad.ode.adjoints.dispatcher import SolverDispatcher
from numbad.sde.digital import warn_of_digital
from numbad.sde.quantiles_of_paths import QuantileLevels
from numbad.sde.solution_operator import SolveDispatcher

_LOSSES = {OdePlan: LossGradient, SdePlan: PathLossGradient}
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
    loss=None,
    stream=None,
    block=None,
    progress=True,
    executor=None,
):
    """Integrate many trajectories on the GPU, one in each thread.

    Parameters
    ----------
    solve : dispatcher
        From `nd.ode.solver`: an explicit Runge-Kutta method, adaptive or with steps of one size, or a
        Rosenbrock method, with events or without. Or from `nd.sde.solver`: a method that solves no equations.
        Their functions, changes by events included, return floats or tuples.
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
    loss : function, optional
        `loss(ys)` gets the array (len(ts), n) of one trajectory and returns a float. What comes back is the
        loss of each and its gradient by all that `derivatives` names, by the discrete adjoint: at the cost of
        some three trajectories, however many numbers these are. For ODEs without events, and for paths of
        SDEs, whose payoffs have their Greeks so.
    reduce : None, "mean", function, or nd.cuda.quantiles(...)
        What is taken of all trajectories, on the GPU; none is copied from there. "mean": the means. A
        function: `reduce(ys)` gets the array (len(ts), n) of one trajectory and returns a float or a tuple of
        floats (a payoff, say), whose means are taken. `nd.cuda.quantiles(0.05, 0.5, 0.95)`: exact quantiles.
    precision : None, "float32" or "float64"
        In which all is computed, literals in `fun` included; None: that of `y0s`. In float32 the tolerances
        of the solver should not be below 1e-6.
    stream : stream of Numba, CuPy or PyTorch, optional
        Where the work is queued. Where arrays on the GPU come back, the call does not wait for it, nor look
        for failures: look at `status`.
    block : int, optional
        How many trajectories go at once; by default as many as fit the memory that is free. Means are sums
        in an order that `block` and the number of trajectories decide alone: the same bits on any GPU. What
        has to go at once (quantiles, arrays that stay on the GPU) does so whatever it says.
    progress : bool
        Whether to show a progress bar, on a terminal, where there are several blocks.
    executor : concurrent.futures.Executor, optional
        Whose workers have a GPU each, as those of Dask-CUDA's `Client(LocalCUDACluster()).get_executor()`:
        they take shares of `block` trajectories, by default a sixteenth. `solve`, a function as `reduce` and
        the arrays, which are NumPy's, travel there by pickle. The result is the same for any.

    Returns
    -------
    Trajectories, Losses, Means or Quantiles
        `(ys, derivatives, status)`, NumPy arrays; where one of `y0s` and `args` is an array on the GPU (of
        CuPy, PyTorch, Numba: anything with `__cuda_array_interface__`), arrays on the GPU. With `reduce`,
        `(mean, error, derivatives, paths, failed)`, in any case of NumPy, for a function in the structure
        that it returns; or `(values, levels, paths, failed)`. With `loss`, `(values, gradients, status)`, of
        shapes (trajectories,), (trajectories, numbers) and (trajectories,), or, reduced, the means of these.

    Raises
    ------
    DeviceError
        where there is no GPU, or not the memory for what has to go at once.
    UnsupportedError
        for solvers that there is no code for on a GPU, and functions that numba-cuda does not compile.
    ArgumentError
        for arrays that do not fit or have no rows, or that are on the GPU in another precision.
    DataError
        for times that do not increase or decrease, in the precision asked for.
    IntegrationError
        where every trajectory failed. Where some did, a warning counts them and tells of the first; the
        others are as they are without them.

    Notes
    -----
    The steps are those of `solve` on the CPU, from the same code, up to rounding: a GPU contracts products
    and sums. Normal numbers are the CPU's to the last bit; in float32 they are made of 32 random bits in
    place of 52 and differ by some 1e-7, by up to 3e-4 where they are next to zero. Beyond a terminal event
    outputs hold the state there, and the status is 0. Nothing is allocated in a thread, and states stay in
    registers: ensembles are for small systems.
    """
    _check_reduce(reduce)
    plan_of(solve)
    block, device = checked_block(block), Accelerator(stream)
    asked = Asked(solve, y0s, args, keys, precision, derivatives, reduce, loss)
    if executor is not None:
        return _request(asked, device).shared_out(ts, block, progress, executor)
    device.need("nd.cuda.ensemble", _WAY_OUT)
    return _request(asked, device).run(ts, block, progress)


def _request(asked, device):
    return Request(plan_of(asked.solve), device, *asked[1:], asked=asked)


def share(asked, ts, before):
    """What a worker collects of trajectories that others go before."""
    device = Accelerator()
    device.need("nd.cuda.ensemble, in a worker of its executor,", _WAY_OUT)
    collector, lost = _request(asked, device).collected(ts, before=before)
    return collector.found, lost.found


def _check_reduce(reduce):
    if not (
        reduce is None or reduce == "mean" or isinstance(reduce, QuantileLevels) or callable(reduce)
    ):
        raise ArgumentError(
            "nd.cuda.ensemble: reduce is None, 'mean', a function of one trajectory or "
            f"nd.cuda.quantiles(...), not {reduce!r}"
        )
    if isinstance(reduce, QuantileLevels) and reduce.of is not None:
        raise ArgumentError(
            "nd.cuda.ensemble takes quantiles of states. Way out: leave of= out, or return what of= makes of "
            "each trajectory, reduce=of, and take numpy.quantile"
        )


def plan_of(solve):
    """What a solver solves; ArgumentError for what is none."""
    if isinstance(solve, SolverDispatcher) or is_with_events(solve):
        return OdePlan.of(*solve.origin)
    if isinstance(solve, SolveDispatcher):
        return SdePlan.of(*solve.origin)
    raise ArgumentError(
        f"nd.cuda.ensemble takes what nd.sde.solver or nd.ode.solver returned, not {solve!r}"
    )


class Request:
    """One call: what is given, brought to the device, and what comes back."""

    def __init__(
        self,
        plan,
        device,
        y0s,
        args,
        keys,
        precision,
        derivatives=None,
        reduce=None,
        loss=None,
        asked=None,
    ):
        self.plan, self.device, self.reduce, self.asked = plan, device, reduce, asked
        self.given = Given(device)
        self.y0, self.width = state_of(self.given.structure(y0s, "y0s"))
        states = [array.dtype for array in self.given.arrays]
        self.args = self.given.structure(args, "args")
        self.keys = Absent() if keys is None else self.given.structure(keys, "keys")
        self.precision = checked_precision(precision, states)
        self.count = self.given.count()
        self.by = chosen(derivatives, self.y0, self.args)
        self.loss = None if loss is None else _LOSSES[type(plan)].of(self, loss)

    def run(self, ts, block=None, shown=True):
        """The trajectories at output times, so many at once."""
        collector, lost = self.collected(ts, block, shown)
        return self._result(collector, lost)

    def collected(self, ts, block=None, shown=False, before=0):
        """What is collected of the trajectories, and those that failed; there are so many before them."""
        plan, count = self.plan, self.count
        times = plan.times(ts, self.precision)
        plan.check(self.y0, times, self.args, self._first)
        kernels, collector = self.kernels(times), self._collector()
        size, source = self._size(times, collector, block), self.loss or plan
        lost = LostTrajectories(
            self.device, self.precision, lambda code, place: source.told(code, place, times)
        )
        with progress_bar(count, shown and size < count) as advance:
            for first, number in portions(count, size):
                arguments = plan.arguments(times, before + first)
                collector.add(self._portion(kernels, arguments, times, first, number, lost))
                advance(number)
        return collector, lost

    def shared_out(self, ts, block, shown, executor):
        """The trajectories at output times, of workers that have a GPU each."""
        collector, lost = self._collector(), LostTrajectories(self.device, self.precision, None)
        if collector.whole is not None or self.given.resident:
            raise ArgumentError(
                "nd.cuda.ensemble: executor= takes NumPy arrays, and no quantiles, which need all "
                "trajectories on one GPU"
            )
        with progress_bar(self.count, shown) as advance:
            for first, number, found in shares(executor, share, self.asked, ts, self.count, block):
                collector.take(found[0], first)
                lost.take(found[1], first)
                advance(number)
        return self._result(collector, lost)

    def _result(self, collector, lost):
        lost.tell(self.count)
        found = collector.result(lost.first)
        return found if self.loss is None else self.loss.result(found)

    def _collector(self):
        """What becomes of the trajectories."""
        device, reduce = self.device, self.reduce
        if reduce is None:
            return OnDevice(device) if self.given.resident else OnHost(device, self.count)
        if isinstance(reduce, QuantileLevels):
            return QuantileSearch(device, self.precision, reduce, self.by)
        if reduce == "mean":
            return Averages(device, self.precision)
        numbers = PathNumbers(device, self.precision, reduce, len(self.by))
        if self.by and isinstance(self.plan, SdePlan):
            warn_of_digital(numbers.reduce)
        return numbers

    def _size(self, times, collector, block):
        """How many trajectories go at once."""
        item = np.dtype(self.precision).itemsize
        outputs = 1 if self.loss else len(times) * self.width
        outputs, fixed = outputs * (1 + len(self.by)), collector.bytes_fixed
        fixed += self.loss.budget if self.loss else 0
        each = collector.bytes_each + 4 + item * (1 + outputs) + self.given.bytes_of_row()
        whole, count = collector.whole, self.count
        if whole is None and block is not None:
            whole, count = "Take a smaller block", min(block, count)
        return portion(self.device.free(), count, fixed, each, whole)

    def _portion(self, kernels, arguments, times, first, count, lost):
        """Integrate some trajectories, and look for those that failed."""
        device, precision, numbers = self.device, self.precision, len(self.by)
        given_more = [self._in_precision(array) for array in arguments]
        *more, tally = device.several_copied([*given_more, lost.nothing_found(count)])
        given = [*self._leaves(first, count), *more]
        if self.loss:
            found, stopped = self.loss.portion(kernels, times, given, first, count)
        else:
            table = len(times), self.width
            shapes = (*table, count), (*table, numbers, count), (count,), (count,)
            kinds = precision, precision, np.int32, precision
            places = device.several_empty(list(zip(shapes, kinds, strict=True)))
            ys, slopes, status, stopped = places
            for kernel in kernels:
                written = [status, stopped, ys, slopes] if numbers else [status, stopped, ys]
                device.launch(kernel, [*given, *written], count)
            found = Portion(first, count, ys, slopes, status)
        queued = device.stream and self.given.resident and self.reduce is None
        lost.look(found, stopped, tally, not queued)
        return found if numbers else found._replace(slopes=None)

    def kernels(self, times):
        """The kernels of all passes, of which the first has the values as well; the adjoint has its own."""
        if self.loss:
            return self.loss.kernels(times)
        chunk = chunk_size(self.plan.states(times, self.width), self.width, self.precision)
        given = self.y0, self.args, self.keys, times, self.precision
        return [self.plan.kernel(*given, seeds) for seeds in passes(self.by, chunk)]

    def _first(self, structure):
        """What the first trajectory is given of a structure."""
        arrays = {leaf.number: self.given.arrays[leaf.number][:1] for leaf in structure.leaves()}
        resident = self.device.is_resident
        rows = {k: self.device.fetched(a) if resident(a) else a for k, a in arrays.items()}
        return structure.first(rows)

    def _leaves(self, first, count):
        """The leaves of some trajectories: arrays on the device, numbers or lists of such.

        ArgumentError for one that is there in another precision.
        """
        for array in self.given.arrays:
            if array.shape[0] != 1 and count < self.count:
                array = array[first : first + count]
            kind = np.dtype(array.dtype).kind
            dtype = np.dtype({"f": self.precision, "i": "int64", "u": "uint64", "b": "bool"}[kind])
            if self.given.is_passed(array):
                yield array[0].astype(dtype).tolist()
            elif not self.device.is_resident(array):
                yield self.device.copied(array, dtype)
            elif array.dtype == dtype:
                yield array
            else:
                raise ArgumentError(
                    f"an array on the GPU has the dtype {array.dtype} where this ensemble takes {dtype}: "
                    "convert it there, or give precision="
                )

    def _in_precision(self, array):
        return array.astype(self.precision) if array.dtype.kind == "f" else array


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

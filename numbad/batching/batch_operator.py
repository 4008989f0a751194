"""`batch`: a function evaluated for every element of a batch, with derivatives."""

from functools import partial

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import duals_in
from ..forward.promote import effects
from ..forward.refuse import reason
from ..ir.functionals import functional
from ..lanes.lane_functions import by_calls, by_instructions, by_vectors
from ..operators.describe import describe
from ..operators.operator_dispatcher import (
    Operator,
    OperatorDispatcher,
    as_dispatcher,
    build,
    parameter_names,
    starred,
)
from ..operators.results import plain_result
from ..reverse.pullbacks import calling
from .batch_axes import axes_of, checked_axes, checked_lanes, element_types, plain
from .gradients import Gradients, has_gradients
from .in_lanes import Together
from .one_by_one import OneByOne

LANES = 16
"""How many lanes go together where `lanes` leaves it open: the fastest of 4, 8, 16 and 32 for the
gradient of a Heston Monte Carlo price with AVX-512 (see asv_bench)."""


class BatchDispatcher(OperatorDispatcher):
    """What `nd.batch` returns."""

    numbad_changes = False  # a function that changes an argument is refused

    @property
    def numbad_draws(self):
        """Whether it draws random numbers, for the reverse sweep to draw them again."""
        return self.operator.draws

    def _raise_own_error(self, argtypes, refusal):
        """The types are not those that the function takes."""

    def numbad_pullback(self, wrt):
        """The pullback of the batch: that of the function, element by element or in lanes."""
        return build(BatchPullback(self, wrt))


class Batch(Operator):
    """`f` over the elements of a batch."""

    dispatcher_class = BatchDispatcher

    def __init__(self, f, in_axes, lanes, fits=None):
        self.name = "batch"
        super().__init__(f)
        self.f = calling(self.f)
        self.names = parameter_names(self.f.py_func)
        if starred(self.f.py_func) is not None:
            raise UnsupportedError(
                f"nd.batch: {self.f.py_func.__name__} takes '*args'. Way out: wrap it in a function "
                "with named arguments"
            )
        self.axes = checked_axes(in_axes, self.names)
        self.lanes = checked_lanes(lanes)
        self.fits = fits or (by_vectors if self.vector_math else by_instructions)
        if fits is None and self.lanes != "auto":
            self.fits = by_calls
        self.draws = effects(self.f, range(len(self.names)), ()).random  # no argument is an object

    def key(self):
        return self.name, self.axes, self.lanes, self.fits.__name__

    def of_types(self, argtypes):
        """The same with the axes that it has for types of arguments."""
        axes = axes_of(self.axes, argtypes, self.f.py_func)
        return self if axes == self.axes else Batch(self.f, axes, self.lanes, self.fits)

    def generate(self, typingctx, argtypes):
        of_types = self.of_types(argtypes)
        if of_types is not self:
            return of_types.generate(typingctx, argtypes)
        entries = [f"arg{k}" for k in range(len(self.names))]

        def together(lanes):
            if has_gradients(self, argtypes):
                return self._gradients(typingctx, argtypes, lanes) or one_by_one()
            return Together(self, entries, argtypes, lanes).values(typingctx)

        def one_by_one():
            return OneByOne(self, entries, argtypes).values(typingctx)

        try:
            return together_or_not(self, argtypes, together, one_by_one)
        except ArgumentError:
            raise
        except Exception as error:  # compilers fail in many ways
            if "Untyped global" not in str(error):  # which has a way out of its own
                self._check_elements(typingctx, argtypes)
            raise

    def _check_elements(self, typingctx, argtypes):
        """ArgumentError where `f` itself does not compile for an element of the batch."""
        tys = element_types(map(plain, argtypes), self.axes)
        try:
            plain_result(typingctx, self.f, tys)
        except Exception as error:
            pairs = zip(self.names, tys, self.axes, strict=True)
            given = [f"'{name}' is {describe(ty)}" for name, ty, axis in pairs if axis is not None]
            raise ArgumentError(
                f"nd.batch: {self.f.py_func.__name__} does not compile for an element of the batch, where "
                f"{', '.join(given)}: {reason(error)}\nAn argument that all evaluations share has None "
                "in in_axes"
            ) from None

    def _gradients(self, typingctx, argtypes, lanes):
        """The code that pulls the batch of the function back; None where its own error tells more."""
        gradient, axes = self.f.operator, list(self.axes)
        for k in gradient.argnums:  # what elements share becomes an array
            axes[k] = axes[k] or 0
        of_function = Batch(gradient.f, tuple(axes), lanes, self.fits)
        try:
            return Gradients(self, argtypes, of_function).values(typingctx)
        except ArgumentError:  # which speaks of `nd.vjp`
            return None


def together_or_not(batch, argtypes, together, one_by_one):
    """The code in lanes, where `f` goes through them; else that which takes elements one by one."""
    has_duals = any(True for ty in argtypes for _ in duals_in(ty))
    if batch.lanes is None or has_duals or (batch.lanes == "auto" and batch.draws):
        return one_by_one()
    try:
        return together(LANES if batch.lanes == "auto" else batch.lanes)
    except Exception as error:  # compilers fail in many ways
        if batch.lanes == "auto":
            return one_by_one()
        if isinstance(error, ArgumentError):
            one_by_one()  # raises what is wrong with the arguments, if it is not that they are lanes
        name, cause = batch.f.py_func.__name__, error.__cause__
        told = str(error) if cause is None else f"there is no code for them: {reason(cause)}"
        raise UnsupportedError(
            f"nd.batch: {name} cannot run in {batch.lanes} lanes: {told}"
        ) from error


class BatchPullback(Operator):
    """`pull(args, shadows, seed) -> (value, adjoints)` of a batch."""

    takes_tuples = True

    def __init__(self, f, wrt):
        self.name = "pullback"
        super().__init__(f)
        self.wrt = tuple(wrt)

    @property
    def batch(self):
        """The operator whose result this is the pullback of."""
        return self.f.operator

    def key(self):
        return self.name, self.wrt

    def parameters(self):
        return "args, shadows, seed", {}

    def generate(self, typingctx, argtypes):
        args, shadows, seed = argtypes
        entries = [f"args[{k}]" for k in range(len(args))]
        batch = self.batch.of_types(tuple(args))
        given = batch, entries, tuple(args)
        return together_or_not(
            batch,
            argtypes,
            lambda n: Together(*given, n, self.wrt).pullback(typingctx, shadows, seed),
            lambda: OneByOne(*given, self.wrt).pullback(typingctx, shadows, seed),
        )


def batch(f, in_axes=0, *, lanes="auto"):
    """A function that evaluates `f` for every element of a batch.

    `in_axes` has, for each argument, the axis along which its array holds the elements of the batch,
    or None for an argument that all evaluations share; one number stands for all arguments that are
    given. (The names are those of `jax.vmap`; -1 is the last axis.) `f` returns a number, an array, or a
    tuple of these, of which the result has arrays, the elements along their first axis; it changes none
    of its arguments. All elements have arrays of one shape.

    `lanes` says how many elements go through `f` together, one in each lane of SIMD vectors. Both
    ways of a branch that lanes may take differently are then computed, and what a lane did not ask
    for is discarded. "auto" takes 16 lanes where they can go together, and one element after the
    other where not: where a way raises, say, or the count of a loop is read that runs longer for some.
    A number insists, and raises UnsupportedError, which says why not; None takes one after the other.
    Values are the same, bit for bit, in all cases.

    Derivatives go through the result in both modes; in reverse mode in lanes as well. Of a gradient,
    `batch(grad(f))`, each element has its own: in lanes where those of `f` can go together, and then
    the same as one by one to rounding.

    Of functions that return arrays, one element goes after the other.

    Raises ArgumentError where `in_axes` or `lanes` do not fit, or an argument has no such axis;
    UnsupportedError, when it is compiled, for what `f` must not do.

    >>> import math
    >>> import numpy as np
    >>> import numbad as nd
    >>> def payoff(spot, strike, normal):
    ...     final = spot * math.exp(0.2 * normal)
    ...     return final - strike if final > strike else 0.0
    >>> payoffs = nd.batch(payoff, in_axes=(None, None, 0))
    >>> normals = np.array([-1.0, 0.0, 1.0])
    >>> payoffs(100.0, 90.0, normals).round(2)
    array([ 0.  , 10.  , 32.14])
    >>> def price(spot, strike, normals):
    ...     total = 0.0
    ...     for value in payoffs(spot, strike, normals):
    ...         total += value
    ...     return total / normals.size
    >>> round(nd.grad(price, mode="reverse")(100.0, 90.0, normals), 6)
    0.740468
    """
    return build(Batch(f, in_axes, lanes))


def _none_of_captured(options, own, captured):
    """Axes of the function's own arguments: what it captures, all evaluations share."""
    axes = options.get("in_axes", 0)
    axes = axes if isinstance(axes, tuple) else (axes,) * own
    return {**options, "in_axes": axes + (None,) * captured}


functional(
    batch, "after", partial(as_dispatcher, "nd.batch"), fit=_none_of_captured, in_nopython=False
)

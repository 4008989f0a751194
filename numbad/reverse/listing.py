"""`inspect_adjoint`: what reverse mode makes of a function, as a listing that a person can follow."""

import inspect
import warnings

from numba import njit, typeof
from numba.core import types
from numba.core.compiler import Flags
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.registry import cpu_target

from ..compilation.decorated import own_code
from ..compilation.switched_off import refuse_without_compiler
from ..elementary.option import asked
from ..errors import ArgumentError, UnsupportedError
from ..forward.refuse import refusing
from ..ir.capture import Capture
from ..ir.leaves import HANDLES, leaves
from ..ir.typing import Inference
from ..source import define
from .pipeline import Pull, SweepCompiler
from .show.text import Listing
from .value_tape import tape_type


def inspect_adjoint(f, *args, argnums=None):
    """What reverse mode makes of a function, as a listing in pseudo-Python with source lines.

    The listing is made from the code that is compiled for `nd.grad` in reverse mode and the like.
    `x_bar` is the adjoint of `x`: the derivative of the result by `x`, weighted with `seed`; it starts
    at zero. `record` puts values on the tape at the end of an iteration, `reload` takes them back,
    `count@12` is how often the loop of line 12 ran, `way@12` by which branch line 12 was reached.
    `x_bar@12` is the part of `x_bar` that the loop of line 12 adds, before it is multiplied by the
    adjoint of the sum that the loop makes; `seed@12` is that adjoint where it is known before the loop.
    Where a variable has several values at a time, they are `x`, `x.1`, `x.2`; what the source does not
    name is `%1`, `%2`. Formulas are put into each other where that changes nothing.

    Parameters
    ----------
    f : function or Numba dispatcher
    *args : arguments that `f` could be called with; it is not called, only their types count.
    argnums : int or tuple of ints, optional
        The arguments to differentiate by. All that hold floats, if it is not given.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        If the arguments do not fit, or none of them can be differentiated by.
    UnsupportedError
        For what reverse mode refuses.

    Examples
    --------
    >>> import numbad as nd
    >>> def powers(x, n):
    ...     p = 1.0
    ...     for _ in range(n):
    ...         p *= x
    ...     return p
    >>> listing = nd.inspect_adjoint(powers, 3.0, 2)
    >>> print(listing[listing.index("reverse sweep") :])    # before it: loops, tape, forward sweep
    reverse sweep
        # 5  return p
        result_bar = seed
        p_bar = result_bar
        for _ in range(n):    # 3
            reload p
            p_bar.1 = p_bar
            # 4  p *= x
            p_bar = p_bar.1 * x
            x_bar += p_bar.1 * p
        return (result, (x_bar, None))
    """
    refuse_without_compiler()
    function = _function(f)
    argtypes = tuple(map(_type_of, _bound(function, args)))
    pull = _Shown(function, _differentiated(argtypes, argnums), lanes=asked())
    state = _typed(pull, argtypes)
    return Listing(pull.stages.sweep, state.typemap, state.calltypes, argtypes).text()


def _function(f):
    """The dispatcher whose adjoint is meant."""
    if not isinstance(f, Dispatcher):
        if not inspect.isfunction(f):
            raise ArgumentError(
                f"nd.inspect_adjoint takes a Python function or a dispatcher, not {f!r}"
            )
        return njit(own_code(f))
    if hasattr(f.py_func, "__numbad_checkpointed__"):
        return f.py_func.__numbad_checkpointed__
    if hasattr(f, "numbad_pullback"):
        raise UnsupportedError(
            "nd.inspect_adjoint cannot show the adjoint of what an operator returned, which is code of "
            "its own. Way out: inspect the function that the operator was given"
        )
    return f


def _type_of(value):
    try:
        return typeof(njit(own_code(value)) if inspect.isfunction(value) else value)
    except ValueError as error:
        raise ArgumentError(f"nd.inspect_adjoint: {error}") from None


def _bound(function, args):
    """The values of all parameters: defaults put in, `*args` as a tuple."""
    try:
        bound = inspect.signature(function.py_func).bind(*args)
    except TypeError as error:
        name = function.py_func.__name__
        raise ArgumentError(
            f"nd.inspect_adjoint: the arguments do not fit {name}: {error}"
        ) from None
    bound.apply_defaults()
    return bound.arguments.values()


def _differentiated(argtypes, argnums):
    """The numbers of the arguments to differentiate by."""
    found = tuple(k for k, ty in enumerate(argtypes) if leaves(ty))
    if argnums is not None:
        wanted = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        wrong = [k for k in wanted if k not in found]
        if wrong:
            raise ArgumentError(f"nd.inspect_adjoint: argument {wrong[0]} holds no floats")
        found = wanted
    if not found:
        raise ArgumentError("nd.inspect_adjoint: no argument holds floats to differentiate by")
    return found


class _Shown(Pull):
    """A pullback that keeps its stages, to be shown."""

    def pipeline(self, state):
        self.stages = super().pipeline(state)
        self.stages.gathers = False  # what a block of iterations adds is shown where it is computed
        return self.stages


class _ShownCompiler(SweepCompiler):
    """The compiler of both sweeps; it stops when all types are known."""

    def define_pipelines(self):
        pipelines = super().define_pipelines()
        for pm in pipelines:
            pm._finalized = False
            pm.add_pass_after(Capture, Inference)
            pm.finalize()
        return pipelines


def _typed(pull, argtypes):
    """The state of the compilation of both sweeps, up to their types."""
    with refusing(pull.dispatcher.py_func), warnings.catch_warnings():
        # Functions in tuples of arguments are typed, but nothing is compiled of them.
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        given = _signature(pull, argtypes)
        stub = define("def sweep(tape, args, shadows, seed):\n    return None\n", {})
        stub.__numbad_pull__ = pull
        flags = Flags()
        flags.nrt = True
        flags.error_model = "python"
        contexts = cpu_target.typing_context, cpu_target.target_context
        return _ShownCompiler(*contexts, None, given, None, flags, {}).compile_extra(stub)


def _signature(pull, argtypes):
    """The types of tape, arguments, shadows, seed."""
    pull.dispatcher.compile(argtypes)
    result = pull.dispatcher.overloads[argtypes].signature.return_type
    shadows = [
        _cotangent(ty, HANDLES) if k in pull.wrt else types.none for k, ty in enumerate(argtypes)
    ]
    seed = _cotangent(result, ("scalar", *HANDLES))
    return tape_type, types.Tuple(argtypes), types.Tuple(shadows), seed


def _cotangent(ty, kinds):
    """The type of the cotangent of a value: None but for leaves of these kinds."""
    ty = ty.type if isinstance(ty, types.Optional) else types.unliteral(ty)
    if isinstance(ty, types.BaseTuple):
        return types.Tuple([_cotangent(t, kinds) for t in ty.types])
    if not leaves(ty) or leaves(ty)[0].kind not in kinds:
        return types.none
    return ty.copy(readonly=False) if isinstance(ty, types.Array) else ty

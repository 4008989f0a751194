"""Compiling the generator: inlined into loops, and its arguments checked when it is compiled."""

from numba import njit
from numba.core import sigutils, types
from numba.core.registry import CPUDispatcher

from numbad.compilation.caching import enable
from numbad.errors import ArgumentError, NumbadError

HOW_TO_MAKE_A_KEY = "make one from a number: key = nd.random.key(42)"


def inlined(function):
    """Compile a function that LLVM puts into its callers, so that loops over it become vector code.

    No fast-math: what is contracted would differ between machines, and with the loop around it. Where
    a contraction is worth having, `fma` says so.
    """
    return enable(njit(forceinline=True, error_model="numpy")(function))


class DrawDispatcher(CPUDispatcher):
    """A function of keys and integers, which raises ArgumentError for anything else."""

    numbad_changes = False
    handles_duals = True  # there are none among its arguments
    checks = ()

    def compile(self, sig):
        argtypes, _ = sigutils.normalize_signature(sig)
        for check, ty in zip(self.checks, argtypes, strict=False):
            check(f"nd.random.{self.__name__.lstrip('_').removesuffix('_many')}", ty)
        return super().compile(sig)

    def _compile_for_args(self, *args, **kws):
        try:
            return super()._compile_for_args(*args, **kws)
        except NumbadError as error:  # the user's mistake: Numba's innards would bury it
            raise error.with_traceback(None) from None


def public(*checks):
    """`inlined` for functions that users call; `checks` look at the types of the arguments."""

    def decorate(function):
        options = {"nopython": True, "error_model": "numpy", "forceinline": True}
        dispatcher = DrawDispatcher(function, targetoptions=options)
        dispatcher.checks = checks
        dispatcher.__doc__ = function.__doc__
        return enable(dispatcher)

    return decorate


def a_key(name, ty):
    """Raise ArgumentError where a type is not that of a key."""
    if ty != types.uint64:
        raise ArgumentError(f"{name} takes a key, not {_told(ty)}; {HOW_TO_MAKE_A_KEY}")


def an_integer(name, ty):
    """Raise ArgumentError where a type is not that of an integer."""
    if not isinstance(ty, types.Integer) or isinstance(ty, types.Boolean):
        raise ArgumentError(f"{name} takes an integer (an int), not {_told(ty)}")


def _told(ty):
    """A type as a user knows it."""
    ty = types.unliteral(ty)
    if isinstance(ty, types.Integer) and not isinstance(ty, types.Boolean):
        return f"a plain integer ({ty})"
    return f"a value of type {ty}"

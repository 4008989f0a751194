"""Compiling the solver's own functions, which are generic in the scalar type as they stand."""

import inspect
from functools import partial

from numba import njit
from numba.core.dispatcher import Dispatcher

from numbad.compilation.caching import ContentCache, user_jit
from numbad.compilation.linking import compiled
from numbad.compilation.memo import look_again, made_of
from numbad.compilation.relinking import KNOWN, recording
from numbad.compilation.template_cache import TemplateCache
from numbad.errors import ArgumentError, NumbadError
from numbad.ode.python_values import check_values, lists_among, with_arrays
from numbad.ode.time_first import refuse_time_second
from numbad.operators.bound import function_of
from numbad.operators.called_from_python import CalledFromPython
from numbad.operators.operator_dispatcher import OperatorCompiler, parameter_names
from numbad.rules.user_rules import share_rules


class GenericDispatcher(CalledFromPython):
    """A function that is compiled for whatever scalar type it is called with.

    It is not adapted to dual numbers as a user's function is: it allocates and calls by scalar type
    itself. Its Python function is a stub, which holds what the compiled code depends on; the code
    compiled is that of an implementation chosen by the argument types.
    """

    handles_duals = True

    def compile(self, sig):
        look_again(self)
        with recording():
            return compiled(self, super().compile, sig)

    def __reduce__(self):
        return self.origin

    def _compile_for_args(self, *args, **kws):
        given = self._by_name(args, kws)
        if lists_among(given):
            return self._call_with_arrays  # which Numba calls with the same arguments
        check_values(self.__name__, given)
        try:
            return super()._compile_for_args(*args, **kws)
        except NumbadError as error:  # the user's mistake: Numba's innards would bury it
            raise error.with_traceback(None) from None

    def _by_name(self, args, kws):
        return dict(zip(parameter_names(self.py_func), args, strict=False)) | kws

    def _call_with_arrays(self, *args, **kws):
        return self(**with_arrays(self._by_name(args, kws)))


KNOWN.append(GenericDispatcher)


class Implementation:
    """What the compiler asks for the code that belongs to a stub."""

    def __init__(self, choose):
        self._choose = choose

    def generate(self, typingctx, argument_types):
        return self._choose(*argument_types)


def generic(stub, content, choose, origin, kind=GenericDispatcher, around=()):
    """The dispatcher with the parameters of `stub` and the code of `choose(*argument_types)`.

    `origin` is a function and the arguments for which it returns this dispatcher, for pickling.

    `content` is all that the code depends on besides numbad's own: compiled code is kept on disk
    under its digest, which a stub that refers to it hands on to functions that call the dispatcher.

    `around` are all of the users' functions in `content`, where of these the code depends on nothing but
    what calls of them return: code that was compiled for others then serves (`relinking`).
    """
    stub.__numbad_operator__ = Implementation(choose)
    options = {"nopython": True, "nogil": True, "error_model": "numpy"}
    dispatcher = kind(stub, targetoptions=options, pipeline_class=OperatorCompiler)
    name = stub.__name__
    contents = name, *content
    dispatcher._cache = ContentCache(name, lambda: contents)
    dispatcher.origin = origin
    if around:
        relink(dispatcher, content, lambda _: (contents, around))
    return dispatcher


def relink(dispatcher, content, around):
    """Let what was compiled for other functions serve; `around` is as `TemplateCache` takes it."""
    name = dispatcher.py_func.__name__
    contents, options = (name, *content), dispatcher.targetoptions
    dispatcher._cache = TemplateCache(name, lambda: contents, around, options)


def as_dispatcher(given, name="fun"):
    """A user's function as a Numba dispatcher, the same one while the function means the same.

    Plain functions are compiled with NumPy's division (1/0 is inf): a step that runs into a singularity is
    then rejected and tried again, shorter, instead of ending the integration.
    """
    if isinstance(given, Dispatcher):
        refuse_time_second(given.py_func, name)
        look_again(given)
        return _not_inlined(given)
    if isinstance(given, partial):
        given = function_of(given, lambda inner: as_dispatcher(inner, name))
    if inspect.isfunction(given):
        refuse_time_second(given, name)
    else:
        told = f"{name} must be a Python function or a Numba dispatcher, not {given!r}"
        if inspect.ismethod(given):
            told += (
                ": compiled code does not take the object that it belongs to. Way out: a function outside of "
                "the class, which takes the numbers that it needs as further arguments (args=)"
            )
        raise ArgumentError(told)
    return share_rules(given, made_of(given, "rhs", user_jit(error_model="numpy")))


def _not_inlined(dispatcher):
    """The dispatcher, or one of the same code and options where Numba would inline it.

    Code around users' functions is written for calls: what is inlined has no type of its own to ask for, and
    its constants are typed anew in each place.
    """
    options = dict(dispatcher.targetoptions)
    if options.pop("inline", "never") == "never":
        return dispatcher
    options.pop("nopython", None)  # Numba warns of it
    how = "not inlined", repr(sorted(options.items()))
    return share_rules(dispatcher, made_of(dispatcher.py_func, how, user_jit(**options)))


def inlined(function):
    """Compile a function into each place that calls it: one compilation instead of many."""
    return njit(error_model="numpy", inline="always")(function)


def called(function):
    """Compile a function that compiled code alone calls: without what Python and C would need to do so."""
    return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)

"""An operator's result as a Numba dispatcher, whose code is written when the argument types are known.

`Operator` subclasses say what source a differentiated function has for given argument types.
`OperatorDispatcher` runs Numba's pipeline with one pass more, which puts that source in place of a
stub with the right signature. So the result can be called from Python, from nopython code, in
`prange`, and be differentiated again.
"""

import inspect
from functools import cache, partial

from numba import njit
from numba.core import bytecode, interpreter, sigutils
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, NumbaTypeError
from numba.core.untyped_passes import TranslateByteCode
from numba.np.ufunc.dufunc import DUFunc

from ..compilation import caching
from ..compilation.inherited import at_llvm_discretion, inherited_options
from ..compilation.linking import compiled
from ..compilation.memo import look_again, made_of, remembered
from ..compilation.relinking import KNOWN
from ..constants import by_symbols
from ..debugging import Watched, debugging
from ..elementary.option import asked, asked_as
from ..elementary.replacing import replacing_library
from ..errors import ArgumentError, NumbadError, UnsupportedError
from ..forward.dual import primal_type
from ..forward.dualize import (
    dispatcher_for_duals,
    without_wrappers,
)
from ..forward.promote import effects, refresh
from ..forward.refuse import refusing, told_before
from ..ir.extension_types import holds_extension, parts, whole, whole_type
from ..ir.fence import tells_of_defect
from ..ir.flat_results import asked_for
from ..ir.functionals import captured_count
from ..ir.mixed_lists import in_words
from ..ir.unwind import nopython_pipeline
from ..reverse.lowering import SweepLowering
from ..rules.registry import generation
from ..rules.user_rules import share_rules
from ..source import define
from .bound import function_of
from .called_from_python import CalledFromPython
from .own_errors import refuse_untyped, with_way_out, without_code
from .results import plain_result


def as_dispatcher(operator, f):
    """`f` as a Numba dispatcher; the same object every time, for as long as the function means the same."""
    if isinstance(f, Dispatcher):
        look_again(original(f))
        return original(f)
    if isinstance(f, DUFunc):
        return made_of(f._dispatcher.py_func, f, partial(_wrap_vectorized, f))
    if isinstance(f, partial):
        f = function_of(f, lambda g: as_dispatcher(operator, g))
    if inspect.isfunction(f):
        return share_rules(f, made_of(f, "njit", njit))
    if inspect.isbuiltin(f) or _is_ufunc_of_numbers(f):
        return _wrap_builtin(f)
    raise ArgumentError(f"{operator} takes a Python function or a Numba dispatcher, not {_told(f)}")


def _is_ufunc_of_numbers(f):
    """Whether it is a ufunc, and none of Python objects alone, as `np.frompyfunc` makes them."""
    return type(f).__name__ == "ufunc" and f.types != ["O" * f.nin + "->" + "O" * f.nout]


def _told(f):
    """What is no function for compiled code, and what to write instead."""
    if inspect.ismethod(f):
        way_out = "write a function that takes what it needs of the object as arguments"
        return (
            f"{f.__qualname__}, a method of an object that compiled code does not know; {way_out}"
        )
    return f"{f!r}; wrap it: @numba.njit def g(x): ..."


def original(f):
    """The user's dispatcher, where `f` is what stands in for it among duals."""
    return getattr(f, "original", f)


_BUILTINS = {}


def _wrap_builtin(f):
    if f not in _BUILTINS:
        arity = getattr(f, "nin", None) or _builtin_arity(f)
        names = ", ".join("xyzw"[:arity])
        _BUILTINS[f] = njit(
            define(f"def {f.__name__}({names}):\n    return fn({names})", {"fn": f})
        )
    return _BUILTINS[f]


def _wrap_vectorized(f, function):
    """A function that calls one that `numba.vectorize` made of a function of numbers."""
    names = ", ".join(parameter_names(function))
    caller = define(f"def caller({names}):\n    return vectorized({names})", {"vectorized": f})
    caller.__name__, caller.__numbad_made_of__ = function.__name__, function
    return njit(caller)


def _builtin_arity(f):
    """How many arguments a built-in function needs; one where it does not tell."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        raise ArgumentError(
            f"{f.__name__} takes any number of arguments; wrap it: lambda x, y: {f.__name__}(x, y)"
        )
    return sum(p.default is p.empty for p in parameters)


class Operator:
    """What an operator does with a function; `generate` writes the code for argument types."""

    name = "operator"
    takes_tuples = False  # whether the result is called with the arguments as one tuple
    takes_tangents = False  # whether it is called with tangents as well
    has_pullback = (
        True  # whether reverse mode around the result is written: see `operator_pullback.py`
    )
    dispatcher_class = None  # of the result, where it is no plain OperatorDispatcher

    vector_math = None  # see `elementary/option.py`

    def __init__(self, f):
        self.f = as_dispatcher(f"nd.{self.name}", f)
        self.vector_math = asked()

    def given(self, args):
        """The arguments of the function, among those of a call of the result."""
        return args[0] if self.takes_tuples else args

    def key(self):
        """What tells two operators on the same function apart."""
        return (type(self),)

    def parameters(self):
        """The parameter list of the result, as source."""
        return signature_source(self.f.py_func)

    def generate(self, typingctx, argtypes):
        """A Python function for these argument types."""
        raise NotImplementedError

    def types_of_f(self, argtypes):
        """The types that `f` is called with, where the result is called with `argtypes`."""
        return tuple(argtypes[0]) if self.takes_tuples else argtypes

    def fall_back(self, argtypes, error):
        """Whether `generate` has other code to offer for types that what it gave does not compile for."""
        return False

    def target(self):
        """What generated code calls for `f` on duals."""
        return dispatcher_for_duals(self.f)


def signature_source(function):
    """A parameter list as source text, and the namespace that its defaults need."""
    parts, namespace = [], {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            parts.append("*" + parameter.name)
        elif parameter.kind in (parameter.VAR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ArgumentError(_of_keyword(parameter, function))
        elif parameter.default is parameter.empty:
            parts.append(parameter.name)
        else:
            namespace[f"_default_{parameter.name}"] = parameter.default
            parts.append(f"{parameter.name}=_default_{parameter.name}")
    return ", ".join(parts), namespace


def _of_keyword(parameter, function):
    """Why a parameter that keywords alone reach is refused."""
    if parameter.kind is parameter.VAR_KEYWORD:
        return (
            f"'**{parameter.name}' of {function.__name__} takes any keyword, which Numba does not "
            "compile: name the arguments"
        )
    return (
        f"argument '{parameter.name}' of {function.__name__} is keyword-only; calls of those fail in "
        "code that Numba compiles: write the parameters without the `*`"
    )


def starred(function):
    """The number of the parameter that takes `*args`, or None."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    star = inspect.Parameter.VAR_POSITIONAL
    return kinds.index(star) if star in kinds else None


def plain_parameters(function):
    """The parameter list of generated code, whose own names must not meet the user's."""
    star = starred(function)
    count = len(parameter_names(function))
    return ", ".join(f"*arg{k}" if k == star else f"arg{k}" for k in range(count))


def parameter_names(function):
    """The names of a function's parameters, in order."""
    return list(inspect.signature(function).parameters)


def every_argument(function):
    """The numbers of a function's arguments, but not of those that a closure captured."""
    return tuple(range(len(parameter_names(function)) - captured_count(function)))


@register_pass(mutates_CFG=True, analysis_only=False)
class WriteSource(FunctionPass):
    """Replaces the stub's code by what the operator generates for the argument types."""

    _name = "numbad_write_source"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        operator = state.func_id.func.__numbad_operator__
        if any(map(holds_extension, state.args)):
            function = _on_parts(operator, state.args)
        else:
            function = _written(operator, state.typingctx, state.args)
        identity = bytecode.FunctionIdentity.from_function(function)
        code = bytecode.ByteCode(func_id=identity)
        by_symbols(state.targetctx)
        state.func_ir = interpreter.Interpreter(identity).interpret(code)
        if getattr(function, "__numbad_inline__", False):
            state.flags.forceinline = True
        if getattr(operator, "vector_math", None):
            state.library = replacing_library(state)
        refresh(state)
        return True


def _on_parts(operator, argtypes):
    """Code that calls the operator's result with the parts of extension types."""
    names = [f"arg{k}" for k in range(len(argtypes))]
    given = ", ".join(f"parts({name})" for name in names)
    lines = f"def on_parts({', '.join(names)}):\n    return whole(differentiated({given}))\n"
    return define(lines, {"parts": parts, "whole": whole, "differentiated": _build(operator)})


WRITERS = []
"""Functions `(operator, typingctx, argtypes)` that may write an operator's code in its place, or None."""


PULLBACKS = []
"""The operator `(f, wrt)` that is the pullback of an operator's result: see `operator_pullback.py`."""


def _written(operator, typingctx, argtypes):
    for write in WRITERS:
        function = write(operator, typingctx, argtypes)
        if function is not None:
            return function
    return operator.generate(typingctx, argtypes)


class OperatorCompiler(CompilerBase):
    """Numba's nopython pipeline, with the source written before anything reads it."""

    def define_pipelines(self):
        without_wrappers(self.state)
        pm = nopython_pipeline(self.state, SweepLowering)
        pm.add_pass_after(WriteSource, TranslateByteCode)
        pm.finalize()
        return [pm]


def _compile_primal(f, given):
    """Compile the user's function itself, which raises what Numba says of it."""
    try:
        f.compile(given)
    except AssertionError as error:
        raise in_words(error) from None


class OperatorDispatcher(CalledFromPython):
    """The compiled function that an operator returns."""

    handles_duals = True  # differentiating it again needs no adapted copy

    def compile(self, sig):
        refusal = None
        while True:
            try:
                return self._compile(sig)
            except ArgumentError:
                if refusal is None:
                    raise
                raise refusal from None  # the other mode does not take such arguments at all
            except UnsupportedError as error:
                refusal = error
                argtypes, return_type = sigutils.normalize_signature(sig)
                self._raise_own_error(argtypes, refusal)
                if not self.operator.fall_back(tuple(argtypes), error):
                    raise
                self._compiler._failed_cache.pop((tuple(argtypes), return_type), None)

    def _compile_for_args(self, *args, **kws):
        try:
            return super()._compile_for_args(*args, **kws)
        except NumbaTypeError as error:  # raised as Numba asks for types again, to tell of them
            refusal = error.__context__
            if not isinstance(refusal, ArgumentError):
                raise
            refusal.patch_message(str(error))
            raise refusal.with_traceback(None) from None

    def _compile(self, sig):
        own = self.operator.f.py_func
        with (
            refusing(own, self),
            asked_as(self.operator.vector_math),
            asked_for(_innermost(self.operator.f)),
            at_llvm_discretion(),
        ):
            return compiled(self, super().compile, sig)

    def _raise_own_error(self, argtypes, refusal):
        """What Numba says of the function itself, if it has no code for these types."""
        operator = self.operator
        given = tuple(primal_type(whole_type(ty)) for ty in operator.types_of_f(argtypes))
        refuse_untyped(operator.f.py_func.__name__, parameter_names(operator.f.py_func), given)
        try:
            plain_result(self.targetdescr.typing_context, operator.f, given)
            if tells_of_defect(refusal) or without_code(str(refusal)):
                operator.f.compile(given)  # which raises what Numba itself cannot compile
        except Exception as error:
            numba_says = isinstance(error, NumbaError) and not isinstance(error, NumbadError)
            if numba_says and told_before(error) is None:
                raise with_way_out(error) from None
            if tells_of_defect(refusal):
                _compile_primal(operator.f, given)

    @property
    def operator(self):
        return self.py_func.__numbad_operator__

    def numbad_changes(self, argtypes):
        """Whether a call may change its arguments, which it does where the function does."""
        f, given = self.operator.f, self.operator.types_of_f(argtypes)
        return bool(
            effects(f, range(len(parameter_names(f.py_func))), given, by_types=True).changed
        )

    def numbad_pullback(self, wrt):
        """The pullback of this function, for reverse mode around it: see `operator_pullback.py`."""
        return self._pullback(wrt)

    def numbad_adjoints(self, wrt):
        """The same for a caller that has no use for the value."""
        if type(self).numbad_pullback is not OperatorDispatcher.numbad_pullback:
            return self.numbad_pullback(wrt)
        return self._pullback(wrt, bare=True)

    def _pullback(self, wrt, **options):
        (pullback,) = PULLBACKS
        with asked_as(self.operator.vector_math):
            return build(pullback(self, wrt, **options))

    def __reduce__(self):
        return _rebuild, (self.operator,)


def _innermost(f):
    """The user's function, of which operators were made one upon the other."""
    while isinstance(f, OperatorDispatcher):
        f = f.operator.f
    return f.py_func


KNOWN.append(OperatorDispatcher)


@cache
def _watched(kind):
    """The class of such dispatchers in the debug mode."""
    return type(f"Watched{kind.__name__}", (Watched, kind), {})


def build(operator):
    """The dispatcher for an operator, the same one for the same function and options.

    A rule that is given later may concern any callee, so there is a new one after it.
    """
    known = remembered(operator.f, "operators")
    key = generation(), bool(operator.vector_math), operator.key()
    if key not in known:
        known[key] = _build(operator)
    return known[key]


def _rebuild(operator):
    return build(operator)


def _build(operator):
    f = operator.f
    parameters, namespace = operator.parameters()
    name = f"{operator.name}_{f.py_func.__name__}".replace("<lambda>", "lambda").replace(".", "_")
    stub = define(f"def {name}({parameters}):\n    raise NotImplementedError\n", namespace)
    stub.__module__ = f.py_func.__module__
    stub.__doc__ = f"nd.{operator.name} of {f.py_func.__name__}."
    stub.__numbad_operator__ = operator
    options = inherited_options(f)
    options["nopython"] = True
    kind = operator.dispatcher_class or OperatorDispatcher
    kind = _watched(kind) if debugging() else kind
    dispatcher = kind(stub, targetoptions=options, pipeline_class=OperatorCompiler)
    return caching.enable(
        dispatcher, lambda: (bool(operator.vector_math), operator.key(), options, f)
    )

"""Type inference that looks up the signature of arithmetic once for each combination of types."""

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.errors import ForceLiteralArg, TypingError
from numba.core.typed_passes import NopythonTypeInference
from numba.extending import _Intrinsic

_KNOWN = {}


class RememberingContext:
    """A typing context for one function; operators and intrinsics are resolved from a table.

    `callee_type(dispatcher, args, kws)` may give the signature of a call without compiling it, and
    `function_type(function, args, kws)` that of a function of NumPy's, say.
    """

    def __init__(self, context, callee_type=None, function_type=None):
        self._context, self._callee_type = context, callee_type
        self._function_type = function_type
        self._here = {}  # of types that are not plain numbers: for this function alone

    def __getattr__(self, name):
        return getattr(self._context, name)

    def resolve_function_type(self, func, args, kws):
        """The signature of a call."""
        if self._callee_type is not None and isinstance(func, types.Dispatcher):
            found = self._callee_type(func.dispatcher, args, kws)
            if found is not None:
                return found
        called = getattr(func, "typing_key", func)
        if self._function_type is not None:
            found = self._function_type(called, args, kws)
            if found is not None:
                return found
        if kws or not (_is_operator(called) or isinstance(called, _Intrinsic)):
            return self._context.resolve_function_type(func, args, kws)
        known = _KNOWN if _is_operator(called) and are_numbers(args) else self._here
        key = called, args
        if known.get(key) is None:
            known[key] = self._context.resolve_function_type(func, args, kws)
        return known[key]

    def resolve_setitem(self, target, index, value):
        """The signature of a store."""
        key = target, index, value
        if self._here.get(key) is None:
            self._here[key] = self._context.resolve_setitem(target, index, value)
        return self._here[key]


class TrialContext(RememberingContext):
    """The same, for code that need not have a type: what has no signature is asked for once as well."""

    def __init__(self, context):
        super().__init__(context)
        self._refused = {}

    def resolve_function_type(self, func, args, kws):
        called = getattr(func, "typing_key", func)
        if kws or not _is_operator(called):
            return super().resolve_function_type(func, args, kws)
        return self._once((called, args), super().resolve_function_type, func, args, kws)

    def resolve_setitem(self, target, index, value):
        key = target, index, value
        return self._once(key, super().resolve_setitem, target, index, value)

    def _once(self, key, resolve, *given):
        if key in self._refused:
            raise self._refused[key].with_traceback(None)
        try:
            return resolve(*given)
        except ForceLiteralArg:
            raise
        except TypingError as error:
            self._refused[key] = error
            raise


def signature_of(context, called, args):
    """`(type, signature)` of a function called with types, looked up once for arithmetic of numbers.

    Numba finds code for a function by a type of it that has been asked for these arguments, and that is
    another one once more is registered for the function.
    """
    function = context.resolve_value_type(called)
    asked = getattr(function, "_impl_keys", None)
    lasts = _is_operator(called) or getattr(called, "__module__", None) == "math"
    if asked is None or not (lasts and are_numbers(args)):
        return function, function.get_call_type(context, args, {})
    found = _KNOWN.get((called, args))
    if found is None or found.args not in asked:
        found = _KNOWN[called, args] = function.get_call_type(context, args, {})
    return function, found


def plain_type(ty):
    """The type of a value that is given to a function: not a literal, but for names with values.

    Of a dictionary with values of several types, Numba knows nothing else.
    """
    return ty if isinstance(ty, types.LiteralStrKeyDict) else types.unliteral(ty)


def _is_operator(function):
    return getattr(function, "__module__", None) == "_operator"


def are_numbers(args):
    """Whether types are those of numbers, plain or dual."""
    plain = types.Float | types.Integer | types.Boolean
    return all(isinstance(ty, plain) or getattr(ty, "is_number", False) for ty in args)


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """Numba's inference with remembered signatures."""

    _name = "numbad_type_inference"
    callee_type = function_type = None

    def run_pass(self, state):
        context = state.typingctx
        state.typingctx = RememberingContext(context, self.callee_type, self.function_type)
        try:
            return super().run_pass(state)
        finally:
            state.typingctx = context

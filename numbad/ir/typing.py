"""Type inference that looks up the signature of arithmetic once for each combination of types."""

import threading
from contextlib import contextmanager

from numba.core import types
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.extending import _Intrinsic

_KNOWN = {}
_ACTIVE = threading.local()


@contextmanager
def remembered_signatures(typingctx):
    """Within, operators and functions of the compiler's own are resolved from a table."""
    if getattr(_ACTIVE, "on", False):
        yield
        return
    original = typingctx.resolve_function_type
    here = {}  # of types that are not plain numbers: for this function alone

    def resolve(func, args, kws):
        called = getattr(func, "typing_key", func)
        if kws or not (_is_operator(called) or isinstance(called, _Intrinsic)):
            return original(func, args, kws)
        known = _KNOWN if _is_operator(called) and _are_numbers(args) else here
        key = called, args
        if known.get(key) is None:
            known[key] = original(func, args, kws)
        return known[key]

    typingctx.resolve_function_type = resolve
    _ACTIVE.on = True
    try:
        yield
    finally:
        _ACTIVE.on = False
        del typingctx.resolve_function_type


def _is_operator(function):
    return getattr(function, "__module__", None) == "_operator"


def _are_numbers(args):
    return all(isinstance(ty, types.Float | types.Integer | types.Boolean) for ty in args)


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """Numba's inference with remembered signatures."""

    _name = "numbad_type_inference"

    def run_pass(self, state):
        with remembered_signatures(state.typingctx):
            return super().run_pass(state)

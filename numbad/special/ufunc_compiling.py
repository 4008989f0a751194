"""Lets Numba compile special functions: numbers, arrays that broadcast, `out=`, as for its ufuncs.

Registered for the CPU alone: the code behind most of them is SciPy's, which has no other target.
"""

from llvmlite import ir
from numba.core import types
from numba.core.typing import npydecl
from numba.np import npyimpl, ufunc_db

from ..elementary.replacing import call_of_scipy, has_place
from ..rules.functions import ScalarFunction
from . import cython_pointers


def compile_pointer(fn, name=None):
    """Let Numba compile a SciPy ufunc as a call of SciPy's C function; False where SciPy has none."""
    pointer = cython_pointers.find(name or fn.__name__, fn.nin)
    if pointer is None:
        return False

    def emit(builder, doubles):
        return cython_pointers.call(builder, pointer, doubles)[0]

    def results(context, builder, doubles):
        if has_place(fn.__name__):
            return call_of_scipy(builder, fn.__name__, doubles, emit)
        return emit(builder, doubles)

    _register(fn, results)
    return True


def compile_output(fn, name, number, nout):
    """Let Numba compile a `ScalarFunction` as output `number` of SciPy's C function of several."""
    pointer = cython_pointers.find(name, fn.nin, nout)

    def results(context, builder, doubles):
        return cython_pointers.call(builder, pointer, doubles)[number]

    _register(fn, results)


def compile_dispatcher(fn, dispatcher):
    """Let Numba compile a function of numbers as a call of a jitted function of doubles."""

    def results(context, builder, doubles):
        typing = context.typing_context
        function = typing.resolve_value_type(dispatcher)
        signature = function.get_call_type(typing, (types.float64,) * fn.nin, {})
        implementation = context.get_function(function, signature)
        context.add_linking_libs(getattr(implementation, "libs", ()))
        return implementation(builder, doubles)

    _register(fn, results)


def _register(fn, results):
    """`results(context, builder, doubles)` gives the value; single precision is rounded from it."""
    loops = fn if isinstance(fn, ScalarFunction) else ScalarFunction(fn.__name__, fn.nin, fn)

    def kernel(context, builder, sig, args):
        doubles = [
            a if a.type == cython_pointers.DOUBLE else builder.fpext(a, cython_pointers.DOUBLE)
            for a in args
        ]
        result = results(context, builder, doubles)
        single = sig.return_type == types.float32
        return builder.fptrunc(result, ir.FloatType()) if single else result

    ufunc_db.get_ufuncs()  # fills the table
    ufunc_db._ufunc_db[loops] = dict.fromkeys(loops.types, kernel)
    _type_as(fn, loops)
    _lower_as(fn, loops)


def _type_as(fn, loops):
    class UfuncTemplate(npydecl.Numpy_rules_ufunc):
        key = fn
        ufunc = loops

    UfuncTemplate.__name__ = f"special_{loops.__name__}"
    npydecl.registry.register_global(fn, types.Function(UfuncTemplate))


def _lower_as(fn, loops):
    kernel = npyimpl._ufunc_db_function(loops)

    def lower(context, builder, sig, args):
        return npyimpl.numpy_ufunc_kernel(context, builder, sig, args, loops, kernel)

    for outputs in range(2):
        signature = (types.Any,) * loops.nin + (types.Array,) * outputs
        npyimpl.registry.lower(fn, *signature)(lower)

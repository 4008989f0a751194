"""Functions that are compiled once a process, and found by a symbol: callers do not optimise them again.

Worth it for numbad's own loops over arrays, such as those that draw random numbers: LLVM takes longer for
them than for all that stands around them, and a call costs nothing beside what they do.
"""

from dataclasses import dataclass
from importlib import import_module

import llvmlite.binding as llvm
from numba.core import cgutils, types
from numba.core.codegen import CodeLibrary
from numba.core.compiler import Flags
from numba.core.targetconfig import ConfigStack
from numba.extending import intrinsic

from ..source import define
from .caching import jit

# Code from a cache needs the functions when it is loaded; older versions of Numba have no place to say so.
LIBRARIES_RELOAD = "_reload_init" in CodeLibrary.__init__.__code__.co_names


def external(compile_):
    """`compile_` for a function at the top of a module of numbad's, whose code its callers do not link.

    What the decorator returns has the function's name and parameters; it calls the code by a symbol.
    """

    def decorate(function):
        if not LIBRARIES_RELOAD:
            return compile_(function)
        compiled = jit(error_model="numpy", nogil=True)(function)
        names = ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])
        call = _call_of(compiled, names)
        source = f"def {function.__name__}({names}):\n    return call({names})\n"
        caller = define(source, {"call": call})
        caller.__module__, caller.__doc__ = function.__module__, function.__doc__
        found = compile_(caller)
        found.external_code = compiled
        return found

    return decorate


def _call_of(compiled, names):
    """The intrinsic function that calls a compiled function by its symbol."""

    def resolve(typingctx, given):
        load = ExternalSymbol(
            compiled.__module__, compiled.__name__, tuple(map(types.unliteral, given))
        )
        result, symbol = load.of(compiled)

        def emit(context, builder, signature, args):
            context.active_code_library._reload_init.add(load)
            return_type, argtypes = signature.return_type, signature.args
            fnty = context.call_conv.get_function_type(return_type, argtypes)
            fn = cgutils.get_or_insert_function(builder.module, fnty, symbol)
            call = context.call_conv.call_function
            status, value = call(builder, fn, return_type, argtypes, args)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return value

        return result.signature, emit

    source = f"def call(typingctx, {names}):\n    return resolve(typingctx, ({names},))\n"
    return intrinsic(define(source, {"resolve": resolve}))


@dataclass(frozen=True)
class ExternalSymbol:
    """Compiles a function for types of arguments, if that is not done, and gives its symbol a meaning."""

    module: str
    name: str
    argtypes: tuple

    def __call__(self):
        self.of(getattr(import_module(self.module), self.name).external_code)

    def of(self, compiled):
        """The compiled function, and its symbol."""
        symbol = f"numbad.{self.module}.{self.name}{self.argtypes}"
        if self.argtypes not in compiled.overloads:
            with _no_function_around():
                compiled.compile(self.argtypes)
        result = compiled.overloads[self.argtypes]
        if symbol not in _loaded:
            name = result.fndesc.llvm_func_name
            llvm.add_symbol(symbol, result.library.get_pointer_to_function(name))
            _loaded.add(symbol)
        return result, symbol


def _no_function_around():
    """A context in which nothing is taken from the options of a function that is being compiled."""
    flags = Flags()
    flags.nrt = True
    return ConfigStack().enter(flags)


_loaded = set()

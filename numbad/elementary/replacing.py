"""Putting the elementary functions into compiled code: in place of libm's, or beside them."""

from functools import cache
from uuid import uuid4

from llvmlite import ir
from llvmlite.binding import Linkage, parse_assembly
from numba.core import cgutils
from numba.core.registry import cpu_target

from numbad.compilation.linking import UNRESOLVED, LinkedLibrary
from numbad.elementary.variants import (
    BY_NAME,
    FUNCTIONS,
    LANES,
    PREFIX,
    beside,
    beside_lanes,
    beside_libm,
    in_lanes,
    in_place,
    in_place_of_libm,
    lanes_of,
    of_scipy,
    widths,
)

_OF_SCIPY = {of_scipy(function.name) for function in FUNCTIONS if function.scipy}


def replacing_library(state):
    """The library of what is being compiled, in which, and in all that it links, ours replace libm's."""
    library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
    library.enable_object_caching()
    library.when_linked = replace_libm
    return library


def replace_libm(library):
    """Let the code of a library that is about to be optimised call ours for libm's functions."""
    module = library._final_module
    if not widths():
        return
    for called in _open_lanes(module):
        module.link_in(parse_assembly(in_lanes(called)))
    if _has_powers(module):
        _simplify(library)  # LLVM makes a product of a square as long as it is a power
    known = {f.name: f for f in module.functions if f.is_declaration or f.name in _OF_SCIPY}
    for function in FUNCTIONS:
        called = [symbol for symbol in function.symbols if symbol in known]
        for symbol in called:
            known[symbol].name = in_place(symbol)
        if called:
            module.link_in(parse_assembly(in_place_of_libm(function.name)))
    _keep_to_itself(module)


def _open_lanes(module):
    """The functions of vectors that ours can take the place of; what is internal is ours already."""
    own = [f for f in module.functions if f.name.startswith(LANES)]
    return [f.name for f in own if f.linkage == Linkage.linkonce_odr]


def _keep_to_itself(module):
    """Let no other module take this one's copies of functions for its own, nor this one others'.

    What calls itself is found by its name, and so is shared. The others get names of their own: what comes
    after would find an internal function by its name, too, whose arguments LLVM may have changed. Ours keep
    theirs, by which LLVM knows the function of vectors that stands for one of numbers.
    """
    own = uuid4().hex
    by_name = {v.name.removeprefix(UNRESOLVED) for v in module.global_variables}
    for function in module.functions:
        shared = function.linkage == Linkage.linkonce_odr or function.name.startswith(PREFIX)
        if shared and not function.is_declaration and function.name not in by_name:
            function.linkage = Linkage.internal
            if not function.name.startswith(PREFIX):
                function.name = f"{function.name}.{own}"


def _has_powers(module):
    names = BY_NAME["pow"].symbols
    return any(f.is_declaration and f.name in names for f in module.functions)


def _simplify(library):
    options = {"loop_vectorize": False, "slp_vectorize": False, "opt": 1}
    made = library._codegen._module_pass_manager(**options)
    manager, *rest = (
        made if isinstance(made, tuple) else (made,)
    )  # Numba's older ones have no builder
    manager.run(library._final_module, *rest)


@cache
def _library(text, name):
    library = LinkedLibrary(cpu_target.target_context.codegen(), name)
    library.add_llvm_module(parse_assembly(text))
    library.finalize()
    return library


def _call(context, builder, text, symbol, arguments):
    ty = arguments[0].type
    fnty = ir.FunctionType(ty, [ty] * len(arguments))
    called = cgutils.get_or_insert_function(builder.module, fnty, symbol)
    context.add_linking_libs([_library(text, symbol)])
    return builder.call(called, arguments)


def call_beside(context, builder, name, arguments):
    """libm's function alone, ours where LLVM makes vectors of a loop over it: for what is no value."""
    return _call(context, builder, beside_libm(name), beside(name), arguments)


def call_of_scipy(builder, name, arguments, emit):
    """A function of SciPy's, which `emit(builder, arguments)` calls, by a name that ours can take."""
    return _call_by_name(builder, of_scipy(name), arguments, emit)


def call_in_lanes(builder, name, arguments, emit):
    """A function of vectors, which `emit(builder, arguments)` computes, by a name that ours can take."""
    return _call_by_name(builder, lanes_of(name, arguments[0].type.count), arguments, emit)


def call_of_vectors(context, builder, name, arguments):
    """Our function of vectors, for what is no value."""
    symbol = beside_lanes(name, arguments[0].type.count)
    return _call(context, builder, in_lanes(symbol), symbol, arguments)


def _call_by_name(builder, symbol, arguments, emit):
    module, ty = builder.module, arguments[0].type
    function = module.globals.get(symbol)
    if function is None:
        fnty = ir.FunctionType(ty, [ty] * len(arguments))
        function = ir.Function(module, fnty, symbol)
        function.linkage = "linkonce_odr"
        function.attributes.add("alwaysinline")
        inner = ir.IRBuilder(function.append_basic_block("entry"))
        inner.ret(emit(inner, function.args))
    return builder.call(function, arguments)


def has_place(name):
    """Whether ours can take the place of a function of SciPy's."""
    return of_scipy(name) in _OF_SCIPY


def call_in_place(context, builder, name, arguments):
    """Our function, the same bits alone and in vectors."""
    symbol = in_place(BY_NAME[name].symbols[-1])
    return _call(context, builder, in_place_of_libm(name), symbol, arguments)

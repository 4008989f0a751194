"""Compiling the solver's own functions, which are generic in the scalar type as they stand."""

from numba import njit
from numba.core.compiler import CompilerBase, DefaultPassBuilder

from numbad.caching import enable
from numbad.forward.dualize import without_wrappers


class GenericCompiler(CompilerBase):
    """Numba's nopython pipeline; functions of dual numbers get no entry from Python."""

    def define_pipelines(self):
        without_wrappers(self.state)
        return [DefaultPassBuilder.define_nopython_pipeline(self.state)]


def generic(*contents):
    """A decorator: compile a function for whatever scalar type it is called with.

    It is not adapted to dual numbers as a user's function is, because it allocates and calls by
    scalar type itself. The compiled code is kept on disk under the digest of `contents`, on which
    alone (besides numbad's own code) it depends.
    """

    def decorate(function):
        dispatcher = njit(error_model="numpy", pipeline_class=GenericCompiler)(function)
        dispatcher.handles_duals = True
        return enable(dispatcher, lambda: (function.__qualname__, *contents))

    return decorate


def inlined(function):
    """Compile a function into each place that calls it: one compilation instead of many."""
    return njit(error_model="numpy", inline="always")(function)

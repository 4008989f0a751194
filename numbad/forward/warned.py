"""What forward mode warns of when a function is compiled for dual numbers."""

from numba.core import types
from numba.core.compiler_machinery import AnalysisPass, register_pass

from ..ir.searches import warn_of_searches
from . import dual as d

_NUMBER = types.Float | d.Dual


@register_pass(mutates_CFG=False, analysis_only=True)
class WarnOfSearches(AnalysisPass):
    """Warns of loops whose results depend on dual numbers through comparisons alone."""

    _name = "numbad_warn_of_searches"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        tys = state.typemap
        warn_of_searches(
            state.func_ir.blocks,
            lambda name: any(True for _ in d.duals_in(tys.get(name))),
            lambda name: isinstance(tys.get(name), _NUMBER),
            lambda name: isinstance(getattr(tys.get(name), "dtype", None), _NUMBER),
        )
        return False

"""What forward mode warns of when a function is compiled for dual numbers."""

from numba.core import types
from numba.core.compiler_machinery import AnalysisPass, register_pass

from ..ir.flat_results import holds_numbers, warn_of_flat_result
from ..ir.searches import warn_of_searches
from ..ir.switching_lines import warn_of_switches
from . import dual as d
from .known import stood_for

_NUMBER = types.Float | d.Dual


@register_pass(mutates_CFG=False, analysis_only=True)
class WarnOfSearches(AnalysisPass):
    """Warns of results that depend on dual numbers through comparisons alone."""

    _name = "numbad_warn_of_searches"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state):
        tys, blocks = state.typemap, state.func_ir.blocks

        def is_varied(name):
            return any(True for _ in d.duals_in(tys.get(name)))

        warn_of_searches(
            blocks,
            is_varied,
            lambda name: isinstance(tys.get(name), _NUMBER),
            lambda name: isinstance(getattr(tys.get(name), "dtype", None), _NUMBER),
        )
        warn_of_switches(blocks, is_varied)
        kinds = is_varied, lambda name: is_varied(name) or holds_numbers(tys.get(name))
        code = state.func_id.func.__code__
        warn_of_flat_result(code, blocks, kinds, stood_for)
        return False

"""Putting functions with `inline="always"` in place without copies of them.

Numba's pass compiles such a function to its IR for each place that calls it, and copies that twice, block by
block with all names of the function for each. What has been made for one place alone can be put there itself.
"""

from numba.core import ir
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.inline_closurecall import InlineWorker
from numba.core.untyped_passes import InlineInlinables


class _Fresh(ir.Block):
    """A block that nobody else has: whoever asks for a copy gets the block."""

    def __deepcopy__(self, memo):
        return self


class _Worker(InlineWorker):
    """Numba's, for functions whose IR it makes itself; `prepare` takes over one of Numba's."""

    @classmethod
    def prepare(cls, worker):
        if type(worker) is InlineWorker:
            worker.__class__ = cls
            worker._compiler_pipeline = _untyped_pipeline

    def inline_ir(self, caller_ir, block, i, callee_ir, callee_freevars, arg_typs=None):
        for own in callee_ir.blocks.values():
            own.__class__ = _Fresh
        found = super().inline_ir(caller_ir, block, i, callee_ir, callee_freevars, arg_typs)
        for own in found[1].values():
            own.__class__ = ir.Block
        return found


@register_pass(mutates_CFG=True, analysis_only=False)
class InlineOnce(InlineInlinables):
    """The pass in place of Numba's own."""

    _name = "numbad_inline_once"

    def _do_work(self, state, work_list, block, i, expr, inline_worker):
        _Worker.prepare(inline_worker)
        return super()._do_work(state, work_list, block, i, expr, inline_worker)


def with_inlining(pm):
    """A pass manager with `InlineOnce` where Numba's pass stands."""
    pm.passes = [
        (InlineOnce if step is InlineInlinables else step, description)
        for step, description in pm.passes
    ]
    return pm


def _untyped_pipeline(state):
    return with_inlining(DefaultPassBuilder.define_untyped_pipeline(state))

"""The dispatcher of a function for dual numbers, one for each function and each set of rules."""

import weakref

from numba.core.registry import CPUDispatcher

from ..compilation.linking import compiled
from ..compilation.memo import remembered
from ..debugging import debugging
from ..rules.registry import rules_given
from .primal import compile_like
from .refuse import refusing


class DualDispatcher(CPUDispatcher):
    """A dispatcher whose function is compiled for dual numbers."""

    compiler = None  # `dualize.py` enters `DualCompiler`, whose passes make such dispatchers

    @classmethod
    def like(cls, fn):
        """One with the function and the options of another dispatcher."""
        made = cls(
            fn.py_func,
            locals=fn.locals,
            targetoptions=cls._options(fn.targetoptions),
            pipeline_class=cls.compiler,
        )
        made._original = weakref.ref(fn)
        return compile_like(made, fn)

    @staticmethod
    def _options(options):
        """The same without what Numba cannot do: it reduces no duals, and what it inlines is not adapted."""
        return {**options, "parallel": False, "inline": "never"}

    @property
    def original(self):
        """The dispatcher that this one stands in for."""
        return self._original() or self

    def compile(self, sig):
        with refusing(self.py_func, self):
            return compiled(self, super().compile, sig)


def dualized(fn):
    """The dispatcher to call in place of `fn` where arguments may be duals.

    A rule that is given later may concern any callee, so there is a new one after it.
    """
    if isinstance(fn, DualDispatcher) or getattr(fn, "handles_duals", False):
        return fn
    duals = remembered(fn, "dual")
    key = rules_given(), debugging()
    if key not in duals:
        duals[key] = DualDispatcher.like(fn)
    return duals[key]

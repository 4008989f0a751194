"""Which arrays a function may write to, for calls of it that take several passes."""

from numba.core import types
from numba.core.registry import cpu_target as cpu
from numba.core.typed_passes import type_inference_stage

from ..compilation.meaning import as_compiled
from ..forward.data_flow import Flow
from ..forward.dual import primal_type
from ..forward.instances import instances_met
from ..forward.promote import Analyser, DualActivity, effects, scalar_names
from .dual_code import untyped_ir
from .frontend import cpu_target


def changed(f, argtypes):
    """The numbers of the parameters of a dispatcher whose arrays it may write to."""
    every = frozenset(range(len(argtypes)))
    found = effects(f, every, argtypes).cautious().changed
    return found & _by_types(f, argtypes) if found else found


def _by_types(f, argtypes):
    """The same with what types tell: `s = x[0]; s += 1.0` writes to nothing."""
    plain = tuple(types.unliteral(primal_type(ty)) for ty in argtypes)
    func_ir = untyped_ir(as_compiled(f, plain), plain, declared=f.locals)
    try:
        with cpu_target():
            typed = type_inference_stage(
                cpu.typing_context,
                cpu.target_context,
                func_ir.copy(),
                plain,
                None,
                raise_errors=False,
            )
        scalars = scalar_names(typed.typemap)
    except Exception:  # the compilation that follows reports what is wrong
        scalars = frozenset()
    instances = instances_met(func_ir, plain)
    flow = Flow(func_ir, plain, scalars, instances).build()
    every = frozenset(range(len(plain)))
    activity = DualActivity(flow, every, Analyser(instances), every_store=True)
    return activity.written() | activity.uncertain()

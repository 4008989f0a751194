"""The types that inference finds, as far as it gets, in code that is still to be rewritten."""

import copy
import warnings

from numba.core import ir, types
from numba.core.typed_passes import type_inference_stage

from .typing import TrialContext


def types_so_far(func_ir, typingctx, targetctx, args, complete=False):
    """name -> type, for names that have one; the code stays what it is.

    With `complete`, none where one is missing or contradicts itself: a name that stands for a number here
    and for an array there has the type of one of them, unless the code is in SSA form.
    """
    trial = func_ir.copy()
    trial.blocks = copy.deepcopy(trial.blocks, _keep_constants(trial))
    try:
        with warnings.catch_warnings():  # of stores of duals in those of floats, to be of duals
            warnings.filterwarnings("ignore", "unsafe cast .*Dual")
            found, _, _, errors = type_inference_stage(
                TrialContext(typingctx), targetctx, trial, args, None, raise_errors=False
            )
    except Exception:  # the real inference, which follows, reports what is wrong
        return {}
    if complete and errors:
        return {}
    return {name: ty for name, ty in found.items() if ty is not types.unknown}


def _keep_constants(func_ir):
    """A deepcopy memo that shares scopes and the Python objects behind constants."""
    memo = {}
    for block in func_ir.blocks.values():
        memo[id(block.scope)] = block.scope
        for statement in block.body:
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Global | ir.FreeVar | ir.Const):
                memo[id(value)] = value
    return memo

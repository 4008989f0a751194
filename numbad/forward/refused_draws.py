"""Draws by dual numbers that have no pathwise derivative: refused when a call reaches them.

Numbers of a discrete distribution are compiled as of the values, so that what is made of them has types.
"""

import random

import numpy as np
from numba.core import types
from numba.core.registry import cpu_target
from numba.extending import overload

from ..ir.reached import refused_draw
from ..source import define
from . import dual as d
from .access import primal
from .stand_ins import stand_for_method

_DISCRETE = "binomial geometric hypergeometric logseries negative_binomial poisson zipf".split()
_REJECTING = "noncentral_chisquare vonmises wald standard_cauchy".split()
REFUSED = {getattr(np.random, name) for name in (*_DISCRETE, *_REJECTING)}
REFUSED.add(random.vonmisesvariate)


def _refuse_draw(fn):
    @overload(fn)
    def typed(*args):
        if not any(isinstance(ty, d.Dual) for ty in args):
            return None
        plain = tuple(d.base_scalar(ty) if isinstance(ty, d.Dual) else ty for ty in args)
        typingctx = cpu_target.typing_context
        if typingctx.resolve_function_type(typingctx.resolve_value_type(fn), plain, {}) is None:
            return None
        given = ", ".join(
            f"primal(args[{k}])" if isinstance(ty, d.Dual) else f"args[{k}]"
            for k, ty in enumerate(args)
            if not isinstance(ty, types.Omitted)
        )
        reached = refused_draw(fn.__name__)  # one for all places
        source = f"def draw(*args):\n    reached()\n    return fn({given})\n"
        return define(source, {"reached": reached, "primal": primal, "fn": fn})


for _fn in REFUSED:
    _refuse_draw(_fn)


def _refuse_method(name):
    """The same for the method of a `Generator`."""

    def stand_in(owner, *args):
        raise NotImplementedError

    stand_for_method(name, stand_in)

    @overload(stand_in, strict=False)
    def typed(owner, /, *args, **kws):
        if not isinstance(owner, types.NumPyRandomGeneratorType):
            return None
        names = [f"_given{k}" for k in range(len(args))]
        tys = dict(zip((*names, *kws), (*args, *kws.values()), strict=True))
        told = {key: f"primal({key})" if isinstance(ty, d.Dual) else key for key, ty in tys.items()}
        passed = [told[key] for key in names] + [f"{key}={told[key]}" for key in kws]
        before = "    reached()\n" if any(told[key] != key for key in told) else ""
        source = f"def draw({', '.join(['_owner', *names, *kws])}):\n{before}"
        source += f"    return _owner.{name}({', '.join(passed)})\n"
        return define(source, {"reached": refused_draw(name), "primal": primal})


for _name in (*_DISCRETE, *_REJECTING):
    if hasattr(np.random.Generator, _name):
        _refuse_method(_name)

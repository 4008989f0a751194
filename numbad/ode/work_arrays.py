"""Work arrays among the further arguments of a right-hand side, beside a state of dual numbers.

A right-hand side may take arrays in `args` that it writes intermediate results to. Where a Jacobian is taken
of it, or derivatives by the initial state alone, these are dual numbers and the arrays of floats: arrays of
duals, with the values of the floats, then stand for them for the time of a call.
"""

from numbad.compilation.memo import remembered
from numbad.forward import access
from numbad.forward.dual import Dual, base_scalar, duals_in, with_base
from numbad.forward.dual_arrays import dtype_of_type
from numbad.forward.layout import empty_as
from numbad.forward.promote import common_dual, effects
from numbad.ode.compiling import called
from numbad.operators import runtime
from numbad.operators.written_arguments import WrittenArguments, has_stand_in
from numbad.source import define


def work_arrays(fun, given, first):
    """The numbers of the arguments, from `first` on, that duals are written to and that hold none of them."""
    level = _level(given)
    asked = [
        k for k, ty in enumerate(given) if k >= first and has_stand_in(ty) and _level([ty]) < level
    ]
    moved = [k for k, ty in enumerate(given) if k not in asked]
    if not asked or effects(fun, moved).written.isdisjoint(asked):
        return ()
    return tuple(k for k in asked if k in effects(fun, moved, given, by_types=True).written)


def with_work_arrays(callee, typingctx, given, work):
    """What calls a dispatcher with arrays of duals in place of its arguments numbered in `work`."""
    known = remembered(callee, "work arrays")
    if (given, work) not in known:
        source = _CallSource(typingctx, given)
        known[given, work] = called(source.function(callee, work))
    return known[given, work]


def _level(tys):
    return max((dual.tag for ty in tys for dual in duals_in(ty)), default=-1)


class _CallSource:
    """The function under construction."""

    def __init__(self, typingctx, given):
        self.given, self.joined = given, common_dual(typingctx, given)
        self.n, self.tag = self.joined.n, self.joined.tag
        self.namespace = {"empty_as": empty_as, "strip": access.strip}
        self.namespace |= {
            f.__name__: f
            for f in (runtime.load, runtime.load_flat, runtime.store, runtime.store_flat)
        }

    def dual(self, scalar):
        below = self.joined.scalar
        inner = with_base(below, base_scalar(scalar)) if isinstance(below, Dual) else scalar
        return Dual(inner, self.n, self.tag)

    def new_duals(self, source, ty):
        name = f"dtype{len(self.namespace)}"
        self.namespace[name] = dtype_of_type(self.dual(ty.dtype))
        return f"empty_as({source}, {name}())"

    def function(self, callee, work):
        before, after = [], []
        arguments = WrittenArguments(self, before, before, after)
        names = [f"arg{k}" for k in range(len(self.given))]
        passed = [
            arguments.stand_in(k, name, self.given[k], duals=True)[0] if k in work else name
            for k, name in enumerate(names)
        ]
        self.namespace["fun"] = callee
        lines = [*before, f"result = fun({', '.join(passed)})", *after, "return result"]
        body = "\n".join(f"    {line}" for line in lines)
        return define(f"def with_work_arrays({', '.join(names)}):\n{body}\n", self.namespace)

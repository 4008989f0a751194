"""Products beside roots: what a square root gives at zero has infinite partials, and zero times it is zero.

A mask is often a factor: `mask * math.sqrt(x)`. Dual numbers do not know where they come from, and to ask
every product whether a factor is zero costs too much; the typed code tells which products are made of roots.
A product of roots, and of what functions make of them, is left alone: the slopes of `math.sqrt(x) *
math.sqrt(x)` and `math.sqrt(x) * math.sin(math.sqrt(x))` are not zero at zero.
"""

import operator

from numba.core import ir, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.imputils import lower_builtin
from numba.core.ir_utils import compute_cfg_from_blocks
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

from ..ir.function import is_expr, is_phi
from ..ir.untyped import constant_of
from ..rules.poles import CARRYING, is_choice, is_root
from ..rules.registry import SCALAR
from ..rules.tracing import arity
from . import dual as d
from .arithmetic import Operand
from .elementwise import broadcasting
from .known import STANDS_FOR
from .overloads import SCALARS, emitter, implementation_key, strip_operand, top_tag

_PRODUCTS = {operator.mul, operator.imul}


def strong_product(x, y):
    """`x * y`, whose partials are zero where a factor is zero, be the other's infinite."""
    raise NotImplementedError


@infer_global(strong_product)
class _StrongProduct(AbstractTemplate):
    key = strong_product
    prefer_literal = True

    def generic(self, args, kws):
        if kws or not all(isinstance(a, SCALARS) for a in args):
            return None
        found = self.context.resolve_function_type(operator.mul, args, {})
        return None if found is None else signature(found.return_type, *args)

    def get_impl_key(self, sig):
        return implementation_key(strong_product)


@lower_builtin(implementation_key(strong_product), types.VarArg(types.Any))
def _lower(context, builder, sig, args):
    emit = emitter(context, builder, sig.return_type)
    operands = [Operand(t, a) for t, a in zip(sig.args, args, strict=True)]
    tag = top_tag(sig.args)
    if tag < 0:
        return emit.cast(emit.call(operator.mul, operands), sig.return_type)
    inner = [strip_operand(context, builder, o, tag) for o in operands]
    nested = any(isinstance(o.type, d.Dual) for o in inner)
    answer = emit.call(strong_product if nested else operator.mul, inner)
    answer = Operand(sig.return_type.scalar, emit.cast(answer, sig.return_type.scalar))
    return emit.chain(operator.mul, operands, tag, answer, strong=True).value


broadcasting(strong_product, strong_product, 2)


@register_pass(mutates_CFG=False, analysis_only=False)
class StrongProducts(FunctionPass):
    """Puts `strong_product` where a factor is made of a root; after the inference of types."""

    _name = "numbad_strong_products"

    def __init__(self):
        FunctionPass.__init__(self)

    def run_pass(self, state):
        return _Products(state).replace()


class _Products:
    """The products of one function."""

    def __init__(self, state):
        self.state, self.types, self.func_ir = state, state.typemap, state.func_ir

    def replace(self):
        """Put `strong_product` where it belongs; returns whether there was something to look at."""
        state = self.state
        made = [s for b in state.func_ir.blocks.values() for s in b.find_insts(ir.Assign)]
        near = {s.target.name for s in made if self._is_root(s.value)}
        if not near:
            return False
        self._spread(near, made, self._carries)
        of_roots = set(near)
        self._spread(of_roots, made, self._moves_with)
        for s in made:
            if is_expr(s.value, "binop", "inplace_binop") and s.value.fn in _PRODUCTS:
                sides = {s.value.lhs.name, s.value.rhs.name}
                if sides & near and not sides <= of_roots and self._is_plain(s.value):
                    self._replace(s.value)
        return True

    def _moves_with(self, value, of_roots):
        """Whether a value is made of roots, by arithmetic or a function that does more than choose."""
        if self._carries(value, of_roots):
            return True
        fn, moving = self._partials(value, of_roots)
        return fn is not None and not all(map(is_choice, moving))

    def _is_root(self, value):
        fn, moving = self._partials(value)
        return fn is not None and is_root(fn, moving)

    def _partials(self, value, among=None):
        """A function of numbers and its partials by duals, those `among` names if given, or `(None, [])`."""
        if is_expr(value, "binop", "inplace_binop"):
            fn, args = value.fn, [value.lhs, value.rhs]
        elif is_expr(value, "call"):
            fn, args = getattr(self.types.get(value.func.name), "typing_key", None), value.args
        else:
            return None, []
        try:
            fn = STANDS_FOR.get(fn, fn)
            rule = SCALAR.get(fn)
        except TypeError:  # unhashable
            return None, []
        moves = [self._is_dual(v.name) and (among is None or v.name in among) for v in args]
        if rule is None or not any(moves):
            return None, []
        most = arity(rule.partials)[
            1
        ]  # the value is one of them; behind is the array for the result
        args = [v for k, v in enumerate(args) if k + 1 < most]
        known = {k: constant_of(self.func_ir, v) for k, v in enumerate(args)}
        literals = {k: v for k, v in known.items() if type(v) in (int, float)}
        partials = rule.trace(len(args), literals)
        return fn, [p for p, moving in zip(partials, moves, strict=False) if moving]

    def _spread(self, near, made, carries):
        """Add what is made of the roots, as `carries(value, near)` tells, not round loops."""
        cfg = compute_cfg_from_blocks(self.func_ir.blocks)
        headers = cfg.loops().keys()
        round_loops = {
            id(s)
            for h in headers
            for s in self.func_ir.blocks[h].find_insts(ir.Assign)
            if is_phi(s)
        }
        before = 0
        while before != len(near):
            before = len(near)
            for s in made:
                known = s.target.name in near or id(s) in round_loops
                if not known and carries(s.value, near):
                    near.add(s.target.name)

    def _carries(self, value, near):
        if isinstance(value, ir.Var):
            return value.name in near
        if is_expr(value, "binop", "inplace_binop"):
            return value.fn in CARRYING and bool({value.lhs.name, value.rhs.name} & near)
        if is_expr(value, "unary", "cast"):
            return value.value.name in near
        if is_expr(value, "phi"):
            return any(getattr(v, "name", None) in near for v in value.incoming_values)
        return False

    def _is_dual(self, name):
        return any(True for _ in d.duals_in(self.types.get(name)))

    def _is_plain(self, product):
        """Whether the factors are numbers or arrays of numbers."""
        tys = [self.types.get(v.name) for v in (product.lhs, product.rhs)]
        scalars = (ty.dtype if isinstance(ty, types.Array) else ty for ty in tys)
        return all(isinstance(ty, SCALARS) for ty in scalars)

    @staticmethod
    def _replace(product):
        product.fn = strong_product
        if product.op == "inplace_binop":
            product.immutable_fn = strong_product

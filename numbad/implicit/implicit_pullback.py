"""The pullback of a solution: one solve with the transposed matrix, one pullback of the equation."""

import inspect

from numba.core import types

from ..forward.dual import top_dual
from ..operators import runtime
from ..operators.adjoint import AdjointSource
from ..operators.argument_structure import leaves, parse, render
from ..operators.operator_dispatcher import Operator, build
from ..operators.vjp import holds_floats
from .linear_systems import minus_solution
from .solution_code import Code


class ImplicitPullback(Operator):
    """`pull(args, shadows, seed) -> (value, adjoints)` of a solution; with `solved`, it takes `x` as well."""

    takes_tuples = True

    def __init__(self, f, wrt, solved=False):
        self.name = "pullback"
        super().__init__(f)
        self.wrt, self.solved = tuple(wrt), solved

    def key(self):
        return self.name, self.wrt, self.solved

    def parameters(self):
        return "args, shadows, seed" + ", x" * self.solved, {}

    def generate(self, typingctx, argtypes):
        return _Pull(self, typingctx, argtypes).write_pullback()


class _Pull(Code):
    """The code of a pullback, under construction."""

    def __init__(self, pullback, typingctx, argtypes):
        args, self.shadows, self.seed, *self.solution = argtypes
        super().__init__(pullback.f.operator, tuple(args), [f"args[{k}]" for k in range(len(args))])
        self.pullback, self.typingctx, self.every = pullback, typingctx, argtypes
        self.tys = tuple(args)

    def write_pullback(self):
        if not self.solution:
            self.solve(self.operator, "args[1]")
        adjoints = {k: self._zero(k) for k in self.pullback.wrt if k != 1}
        if 1 in self.pullback.wrt:
            adjoints[1] = self._by_arguments()
        parts = "".join(adjoints.get(k, "None") + ", " for k in range(len(self.tys)))
        return self.write("pullback_source", self.pullback.parameters()[0], f"x, ({parts})")

    def _zero(self, k):
        """The start, say, has no influence."""
        tree = parse(self.tys[k], "")
        return render(
            tree,
            lambda leaf: self.zero(leaf.type) if leaf.kind == "scalar" else "None",
            self.namespace,
        )

    def _by_arguments(self):
        """Lines that pull the cotangent back through the equation; source of the adjoint of args."""
        given = self.given()
        self.lines.append(f"slope = {self.slope(given)}")
        if self.top is None:
            self.check(given)
        solve = "-seed / slope" if self.scalar else "minus_solution(slope.T, seed)"
        self.lines.append(f"cotangent = {solve}")
        self.namespace.update(minus_solution=minus_solution, add_into=runtime.add_into)
        source = self._source()
        seed = source.seed_from("cotangent", self.seed)
        self.lines += [*source.before, *source.call(seed)]
        found = []
        for k, (_, ty) in enumerate(self.arguments, start=1):
            known = k in source.wrt
            found += source.entries(k) if known else [None for _ in leaves(parse(ty, ""))]
        return self._deliver(source, found)

    def _source(self):
        """The call of the equation's pullback, at the solution."""
        arguments = [("x", self._solution_type()), *self.arguments]
        parameters = list(inspect.signature(self.operator.f.py_func).parameters.values())
        for parameter in parameters[len(arguments) :]:
            arguments.append((parameter.name, types.Omitted(parameter.default)))
        wrt = [
            k
            for k, (_, ty) in enumerate(arguments)
            if k and holds_floats(ty) and not self._is_constant(ty)
        ]
        return AdjointSource(
            *(self.operator, self.typingctx, self.operator.equation, arguments, wrt, self.every),
            namespace=self.namespace,
        )

    def _solution_type(self):
        if self.solution:
            return self.solution[0]
        solution = types.Dispatcher(build(self.operator))
        return self.typingctx.resolve_function_type(solution, self.tys, {}).return_type

    def _is_constant(self, ty):
        """Whether floats are constants, as they are where what is differentiated is dual."""
        return top_dual(ty) is None and any(top_dual(other) for other in self.every)

    def _deliver(self, source, found):
        """Add adjoints of arrays to their shadows; source of those of numbers, in args' structure."""
        tree = parse(self.tys[1], "shadows[1]")
        entries = iter(found)
        numbers = {}
        for leaf in leaves(tree):
            entry = next(entries)
            entry = None if self._is_constant(leaf.type) else entry
            if leaf.kind == "array" and entry is not None:
                self.lines.append(f"add_into({leaf.source}, {entry})")
            elif leaf.kind == "scalar":
                zero = self.zero(leaf.type)
                numbers[id(leaf)] = zero if entry is None else source.cast(entry, leaf.type)
        return render(tree, lambda leaf: numbers.get(id(leaf), "None"), self.namespace)

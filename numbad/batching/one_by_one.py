"""The elements of a batch one after the other: for whatever `f` contains, and for dual numbers."""

from numba.core import types

from ..forward.dualize import replacement
from ..operators.adjoint import pullback_of
from ..operators.argument_structure import leaves, parse, render
from ..operators.operator_dispatcher import plain_parameters
from ..reverse.pipeline import written_call
from .batch_axes import element_type, element_types
from .batch_code import BatchWriter


class OneByOne(BatchWriter):
    """Code that goes through the batch in a loop."""

    loop = "for i in range(count):"
    takes_arrays = True

    def _element(self, source, k):
        axis = self.axes[k]
        return source if axis is None else f"{source}[{':, ' * axis}i]"

    def values(self, typingctx):
        """The function that evaluates the batch."""
        f = replacement(self.batch.f)
        tys = element_types(self.tys, self.axes)
        ty = typingctx.resolve_function_type(types.Dispatcher(f), tys, {}).return_type
        result = self.make_results(ty)
        given = ", ".join(self._element(s, k) for k, s in enumerate(self.entries))
        self.body.append(f"value = {self.constant('f', f)}({given})")
        self._store()
        parameters = plain_parameters(self.batch.f.py_func)
        return self.write("batch_source", parameters, self.loop, result)

    def _store(self):
        self.body += self.arrays
        self.body += [f"out{leaf.number}[i] = {leaf.source}" for leaf in leaves(self.result)]

    def pullback(self, typingctx, shadows, seed):
        """The function `(args, shadows, seed) -> (value, adjoints)` of the batch."""
        tys = element_types(self.tys, self.axes)
        free = [k for k, ty in enumerate(tys) if not isinstance(ty, types.Dispatcher)]
        self.places = {k: place for place, k in enumerate(free)}
        pull = pullback_of(self.batch.f, tys, self.wrt)
        seed_source = self.seed(seed, lambda source: f"{source}[i]")
        given = [
            self.tuple_of(self._element(f"args[{k}]", k) for k in free),
            self.tuple_of(self._shadow(k) for k in free),
            seed_source,
        ]
        result = self.make_results(self._value_type(typingctx, pull, free, shadows, seed))
        call = written_call(pull, "pull", ", ".join(given), self.namespace)
        self.body.append(f"value, adjoints = {call}")
        self._store()
        adjoints = {k: self._deliver(k) for k in self.wrt}
        returned = self.returned(result, adjoints)
        return self.write("pullback_source", "args, shadows, seed", self.loop, returned)

    def _value_type(self, typingctx, pull, free, shadows, seed):
        """The type of the value that a pullback returns."""
        tys = element_types(self.tys, self.axes)
        given = [tys[k] for k in free]
        given_shadows = [self._shadow_type(k, shadows[k]) for k in free]
        seeds = _seed_type(seed)
        arguments = (
            types.BaseTuple.from_types(given),
            types.BaseTuple.from_types(given_shadows),
            seeds,
        )
        called = typingctx.resolve_function_type(types.Dispatcher(pull), arguments, {})
        return called.return_type[0]

    def _shadow_type(self, k, ty):
        if k not in self.wrt:
            return types.none
        if self.axes[k] is None:
            return ty
        return element_type(ty, self.axes[k]) if self.tys[k].ndim > 1 else types.none

    def _shadow(self, k):
        if k not in self.wrt or (self.axes[k] is not None and self.tys[k].ndim == 1):
            return "None"
        return self._element(f"shadows[{k}]", k)

    def _deliver(self, k):
        """Lines that add up what one evaluation gives; source of the adjoint of argument `k`."""
        if self.axes[k] is not None:
            if self.tys[k].ndim == 1:
                self.body.append(f"shadows[{k}][i] += adjoints[{self.places[k]}]")
            return "None"
        sums = {}
        for leaf, found in self.floats(k):
            if leaf.kind == "scalar":
                name = f"sum{len(self.before)}"
                self.before.append(f"{name} = {self.zero(leaf.type)}")
                self.body.append(f"{name} += {found.source}")
                sums[id(leaf)] = name
        return self._rendered(k, sums)

    def _rendered(self, k, sums):
        names = iter(sums.values())
        tree = parse(self.tys[k], "")
        return render(
            tree, lambda leaf: next(names) if leaf.kind == "scalar" else "None", self.namespace
        )


def _seed_type(ty):
    """The type of the cotangent of one evaluation."""
    if isinstance(ty, types.BaseTuple):
        return types.BaseTuple.from_types([_seed_type(t) for t in ty])
    return element_type(ty, 0) if isinstance(ty, types.Array) else ty

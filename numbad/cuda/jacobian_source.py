"""The code of `nd.cuda.jacobian`: calls of `f` on seeded arguments, and where the partials go."""

from numba.core import types

from ..errors import ArgumentError
from ..forward.dual import Dual
from ..forward.views import Shadowed
from ..operators.argument_structure import level_of, render
from ..operators.results import refuse_returned
from .seeding import Passes, SeededCall, element_of


class JacobianSource:
    """The source of a Jacobian, for types of arguments of `f` and of the arrays after them."""

    def __init__(self, operator, typingctx, argtypes):
        self.operator, self.out = operator, operator.out
        self.count = len(operator.names)
        argtypes = [
            *argtypes[: self.count],
            *(argtypes[self.count] if argtypes[self.count :] else ()),
        ]
        sources = [f"arg{k}" for k in range(self.count)]
        self.call = SeededCall(operator, typingctx, sources, argtypes[: self.count])
        self.tag = level_of(argtypes)
        if len(argtypes) < self.count:
            self._refuse_count(argtypes, [])
        self.passes = Passes(self.call, operator.argnums, self.tag, operator.chunk)
        places = self.passes.arrays if self.out is None else list(operator.argnums)
        if len(argtypes) != self.count + len(places):
            self._refuse_count(argtypes, places)
        self.places = {k: (f"arrays[{i}]", argtypes[self.count + i]) for i, k in enumerate(places)}

    def _refuse_count(self, argtypes, places):
        names = self.operator.names
        more = "".join(f", then an array for the derivatives by '{names[k]}'" for k in places)
        raise ArgumentError(
            f"the result of nd.{self.operator.name} takes {self.count + len(places)} arguments here, the "
            f"{self.count} of {self.operator.f.py_func.__name__}{more}; {len(argtypes)} are given"
        )

    def write(self):
        if self.out is None:
            self._refuse_changes(())
            lines, returned = self._returned()
        else:
            self._refuse_changes((self.out,))
            lines, returned = self._written()
        lines.append(f"return {returned}")
        return self.call.define(self.operator.parameters()[0], lines)

    def _refuse_changes(self, beside):
        if self.passes.several() or self.out is not None:
            self.call.refuse_changes(beside)

    def _returned(self):
        """Lines, and the source of what is returned, for a result that `f` returns."""
        lines, found, tree = [], {}, None
        for g, group in enumerate(self.passes.groups()):
            call = self.passes.by_scalars(group)
            tree = call.result()
            call.floats(tree)
            lines.append(f"r{g} = {call.source()}")
            found.update({id(leaf): (g, j) for j, (_, leaf) in enumerate(group)})
        if not self.passes.arrays:
            return lines, self._by(tree, self.operator.argnums, found)
        for k in self.passes.arrays:
            lines += self._by_array(k)
        return lines, self._each(
            lambda k: (
                self.places[k][0] if k in self.places else self._by(tree, [k], found, single=True)
            )
        )

    def _each(self, part):
        """Source of what `part` gives for each of `argnums`, or for the one number that was given."""
        parts = [part(k) for k in self.operator.argnums]
        return parts[0] if self.operator.single else f"({''.join(f'{p}, ' for p in parts)})"

    def _by(self, tree, argnums, found, single=None):
        """Source of the derivatives by arguments of floats: their structure within the result's."""
        single = self.operator.single if single is None else single

        def partial(leaf, result):
            g, j = found[id(leaf)]
            return f"tangent(r{g}{result.source.removeprefix('r')}, {j}, {self.tag})"

        def by_arguments(result):
            def entry(leaf):
                return "None" if leaf.kind == "constant" else partial(leaf, result)

            parts = [render(self.passes.trees[k], entry, self.call.namespace) for k in argnums]
            return parts[0] if single else f"({''.join(f'{p}, ' for p in parts)})"

        return render(tree, by_arguments, self.call.namespace)

    def _by_array(self, k):
        call, n = self.passes.by_array(k), self.passes.width(k)
        tree = call.result()
        results = call.floats(tree)
        ndim, (place, ty) = self.call.types[k].ndim, self.places[k]
        rows = tree is not results[0]
        self._check_place(k, ty, ndim + rows)
        shape = f"({len(results)}, *arg{k}.shape)" if rows else f"arg{k}.shape"
        words = shape.replace(f"arg{k}", self.operator.names[k])
        self.call.check_shape(place, self._derivatives_by(k), shape, words)
        lines = [f"for first in range(0, arg{k}.size, {n}):", f"    r = {call.source()}"]
        for j in range(n):
            lines += [f"    c = first + {j}", f"    if c < arg{k}.size:"]
            for o, leaf in enumerate(results):
                before, index = element_of(f"arg{k}", k, [str(o)] * rows, ndim)
                value = f"tangent({leaf.source}, {j}, {self.tag})"
                lines += [f"        {line}" for line in before if o == 0]
                lines.append(f"        {place}[{index}] = {value}")
        return lines

    def _written(self):
        """The same of a result that is written into an argument."""
        lines, out = [], self.call.types[self.out]
        if not (isinstance(out, types.Array) and isinstance(out.dtype, types.Float)):
            name = self.operator.names[self.out]
            raise ArgumentError(
                f"nd.{self.operator.name}: out={self.out} names '{name}', no array of floats"
            )
        for k in self.operator.argnums:
            ty, (place, given) = self.call.types[k], self.places[k]
            axes = ty.ndim if isinstance(ty, types.Array) else 0
            if axes > 1 or isinstance(ty, types.BaseTuple):
                raise ArgumentError(
                    f"nd.{self.operator.name} with out= differentiates by floats and by arrays of one axis; "
                    f"'{self.operator.names[k]}' is {ty}"
                )
            self._check_place(k, given, out.ndim + axes)
            names = self.operator.names
            shape = f"arg{self.out}.shape" + f" + arg{k}.shape" * axes
            words = f"{names[self.out]}.shape" + f" + {names[k]}.shape" * axes
            self.call.check_shape(place, self._derivatives_by(k), shape, words)
            lines += zeroed(place, given.ndim)
            lines += self._written_by(k, axes)
        return lines, self._each(lambda k: self.places[k][0])

    def _written_by(self, k, axes):
        leaf = self.passes.trees[k]
        call = self.passes.by_array(k) if axes else self.passes.by_scalars([(k, leaf)])
        n = self.passes.width(k) if axes else 1
        place, given = self.places[k]
        first = "first" if axes else "0"
        out = self.call.types[self.out]
        call.sources[self.out] = f"written(arg{self.out}, {place}, {first}, {n}, {self.tag})"
        call.types[self.out] = Shadowed(out, given, Dual(out.dtype, n, self.tag), readable=False)
        refuse_returned(self.operator, call.result())
        if not axes:
            return [call.source()]
        return [f"for first in range(0, arg{k}.size, {n}):", f"    {call.source()}"]

    def _derivatives_by(self, k):
        return f"the array for the derivatives by '{self.operator.names[k]}'"

    def _check_place(self, k, given, ndim):
        argument = self.call.types[k]
        dtype = argument.dtype if isinstance(argument, types.Array) else argument
        if self.out is not None:
            dtype = self.call.types[self.out].dtype
        fits = isinstance(given, types.Array) and given.mutable
        if not fits or (given.dtype, given.ndim) != (dtype, ndim):
            raise ArgumentError(
                f"nd.{self.operator.name} writes the derivatives by '{self.operator.names[k]}' into an "
                f"array of {dtype} with {ndim} axes; {given} is given"
            )


def zeroed(place, ndim):
    """Lines that set every element of an array to zero."""
    lines = []
    for axis in range(ndim):
        lines.append("    " * axis + f"for z{axis} in range({place}.shape[{axis}]):")
    index = ", ".join(f"z{axis}" for axis in range(ndim))
    return [*lines, "    " * ndim + f"{place}[{index}] = 0"]

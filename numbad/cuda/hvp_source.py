"""The code of `nd.cuda.jvp` and `nd.cuda.hvp`: arguments paired with tangents, and once more seeded."""

import inspect

from numba.core import types

from ..errors import ArgumentError
from ..operators.argument_structure import Branch, leaves, level_of, parse, refuse_constants, render
from ..operators.tangent import checked_tuples
from .seeding import Passes, SeededCall, element_of


def directed(operator, typingctx, argtypes):
    """The call of `f` with all arguments paired with their tangents, and the level of these."""
    primals, tangents = checked_tuples(operator, argtypes[:2])
    refuse_constants(f"nd.{operator.name}", operator.names, primals)
    sources = [f"primals[{k}]" for k in range(len(primals))]
    call, tag = SeededCall(operator, typingctx, sources, primals), level_of(argtypes)
    parameters = list(inspect.signature(operator.f.py_func).parameters.values())
    for k in range(len(primals), len(parameters)):
        call.default(k, parameters[k].default)
    for j, k in enumerate(operator.argnums[: len(tangents)]):
        if k < len(primals):
            call.direct(k, f"tangents[{j}]", tangents[j], tag)
    return call, tag


class HVPSource:
    """The source of a Hessian-vector product."""

    def __init__(self, operator, typingctx, argtypes):
        self.operator = operator
        self.primals = argtypes[0]
        self.call, self.inner = directed(operator, typingctx, argtypes)
        self.tag = self.inner + 1
        self.wrt = self._wrt()
        self.passes = Passes(self.call, self.wrt, self.tag, None)
        given, count = argtypes[2], len(self.passes.arrays)
        if not isinstance(given, types.BaseTuple) or len(given) != count:
            raise ArgumentError(
                f"nd.{operator.name}: the third argument is a tuple of {count} arrays here, one for each "
                f"array differentiated by; it is {given}"
            )
        self.places = dict(zip(self.passes.arrays, given, strict=True))

    def _wrt(self):
        """The arguments that hold floats, of those asked for."""
        trees = {
            k: parse(self.primals[k], "") for k in self.operator.argnums if k < len(self.primals)
        }
        return [k for k, t in trees.items() if any(leaf.kind != "constant" for leaf in leaves(t))]

    def write(self):
        if self.passes.several():
            self.call.refuse_changes()
        lines, found = [], {}
        for g, group in enumerate(self.passes.groups()):
            call = self.passes.by_scalars(group)
            self._check(call)
            lines.append(f"r{g} = {call.source()}")
            found.update({id(leaf): f"r{g}, {j}" for j, (_, leaf) in enumerate(group)})
        entries = []
        for k in self.wrt:
            if k in self.passes.arrays:
                lines += self._by_array(k)
                entries.append(f"arrays[{self.passes.arrays.index(k)}]")
            else:
                entries.append(self._structured(k, found))
        lines.append("return " + "".join(f"{entry}, " for entry in entries))
        return self.call.define("primals, tangents, arrays=()", lines)

    def _check(self, call):
        tree = call.result()
        if isinstance(tree, Branch):
            raise ArgumentError(
                f"nd.{self.operator.name} needs a function that returns a float; "
                f"{self.operator.f.py_func.__name__} returns a tuple"
            )
        call.floats(tree)

    def _second(self, source):
        return f"tangent(tangent({source}, {self.tag}), 0, {self.inner})"

    def _structured(self, k, found):
        def entry(leaf):
            return "None" if leaf.kind == "constant" else self._second(found[id(leaf)])

        return render(self.passes.trees[k], entry, self.call.namespace)

    def _by_array(self, k):
        call, n = self.passes.by_array(k), self.passes.width(k)
        self._check(call)
        argument, given = self.primals[k], self.places[k]
        if not isinstance(given, types.Array) or (given.dtype, given.ndim, given.mutable) != (
            argument.dtype,
            argument.ndim,
            True,
        ):
            raise ArgumentError(
                f"nd.{self.operator.name} writes the product for '{self.operator.names[k]}' into an array of "
                f"{argument.dtype} with {argument.ndim} axes; {given} is given"
            )
        place, array = f"arrays[{self.passes.arrays.index(k)}]", f"primals[{k}]"
        name = f"the array for the product for '{self.operator.names[k]}'"
        self.call.check_shape(place, name, f"{array}.shape", "of the argument")
        lines = [f"for first in range(0, {array}.size, {n}):", f"    r = {call.source()}"]
        for j in range(n):
            before, index = element_of(array, k, [], argument.ndim)
            lines += [f"    c = first + {j}", f"    if c < {array}.size:"]
            lines += [f"        {line}" for line in before]
            lines.append(f"        {place}[{index}] = {self._second(f'r, {j}')}")
        return lines

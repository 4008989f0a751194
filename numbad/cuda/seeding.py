"""Source of functions that call `f` on dual numbers and allocate nothing.

Arguments that are floats become duals, arrays become views (`forward/views.py`), tuples are rebuilt. What a
function cannot return goes into arrays that the caller gives.
"""

from numba import typeof
from numba.core import types
from numba.core.registry import cpu_target

from ..errors import ArgumentError, UnsupportedError
from ..forward import access
from ..forward.custom import tangent, value_of
from ..forward.dual import Dual, DualView, base_scalar, join_tangent
from ..forward.views import Seeded, Shadowed, seeded, shadowed, written
from ..operators import runtime
from ..operators.argument_structure import Branch, hides_floats, leaves, mapped_type, parse, render
from ..operators.describe import describe, hint
from ..operators.results import call_type
from ..source import define
from .changes import changed

MOST_SCALARS = 8
"""Scalars by which one pass differentiates, at most."""

_NAMES = {
    "pair": access.pair,
    "unit": access.unit,
    "shadowed": shadowed,
    "written": written,
    "seeded": seeded,
    "value_of": value_of,
    "tangent": tangent,
    "tangent_of_level": runtime.tangent_of_level,
    "ArgumentError": ArgumentError,
}


class SeededCall:
    """A call of `f` under construction: source and type of each argument."""

    def __init__(self, operator, typingctx, sources, tys):
        self.operator, self.typingctx = operator, typingctx
        self.sources, self.types = list(sources), list(map(types.unliteral, tys))
        self.namespace = dict(_NAMES, f=operator.target())
        self.checks = []  # lines before the call
        self._refuse_functions()

    def copy(self):
        """Another call, to be changed on its own; the names are shared."""
        made = object.__new__(SeededCall)
        made.__dict__.update(self.__dict__)
        made.sources, made.types = list(self.sources), list(self.types)
        return made

    def _refuse_functions(self):
        for name, ty in zip(self.operator.names, self.types, strict=False):
            if isinstance(ty, types.Callable):
                raise ArgumentError(
                    f"nd.{self.operator.name}: '{name}' is a function; on a GPU, "
                    f"{self.operator.f.py_func.__name__} must call functions by their names"
                )

    def default(self, k, value):
        """Add an argument that is left to its default."""
        name = f"default_of_{k}"
        self.namespace[name] = value
        self.sources.append(name)
        self.types.append(typeof(value))

    def put(self, k, tree, replaced):
        """Rebuild argument `k` with `(source, type)` of `replaced` for its leaves, by their ids."""

        def new(leaf):
            return replaced.get(id(leaf), (leaf.source, leaf.type))

        self.sources[k] = render(tree, lambda leaf: new(leaf)[0], self.namespace)
        self.types[k] = mapped_type(tree, lambda leaf: new(leaf)[1])

    def direct(self, k, source, ty, tag):
        """Pair argument `k` with a tangent of its structure."""
        tree, directions = parse(self.types[k], self.sources[k]), parse(ty, source)
        found = list(leaves(tree))
        if all(leaf.kind == "constant" for leaf in found):
            self._constant(k, tree, found, directions)
            return
        pairs = {}
        self._match(k, tree, directions, pairs, tag)
        self.put(k, tree, pairs)

    def _constant(self, k, tree, found, directions):
        name = f"nd.{self.operator.name}"
        if self.operator.explicit and found:
            raise ArgumentError(
                f"{name} differentiates by argument '{self.operator.names[k]}', which is "
                f"{describe(tree.type)}; it must hold floats{hint(tree.type)}"
            )
        given = any(not isinstance(leaf.type, types.NoneType) for leaf in leaves(directions))
        for leaf in filter(hides_floats, found if given else ()):
            raise ArgumentError(
                f"{name}: '{self.operator.names[k]}' has a tangent, but what it holds, "
                f"{describe(leaf.type)}, is a constant{hint(leaf.type)}; the tangent of a constant is None"
            )

    def _match(self, k, tree, directions, pairs, tag):
        if isinstance(tree, Branch):
            same = isinstance(directions, Branch) and len(directions.members) == len(tree.members)
            members = zip(tree.members, directions.members, strict=True) if same else ()
            for member, direction in members:
                self._match(k, member, direction, pairs, tag)
        elif tree.kind == "array":
            same = isinstance(directions.type, types.Array) and _alike(directions.type, tree.type)
            if same:
                source = f"shadowed({tree.source}, {directions.source}, 0, 1, {tag})"
                dual = Dual(tree.type.dtype, 1, tag)
                name = f"the tangent of '{self.operator.names[k]}'"
                shape = f"{tree.source}.shape"
                self.check_shape(directions.source, name, shape, "of the argument")
                pairs[id(tree)] = source, Shadowed(tree.type, directions.type, dual)
        else:
            same = tree.kind == "constant" or isinstance(directions.type, types.Number | Dual)
            if same and tree.kind == "scalar":
                scalar = join_tangent(self.typingctx, tree.type, directions.type)
                source = f"pair({tree.source}, {directions.source}, {tag})"
                pairs[id(tree)] = source, Dual(scalar, 1, tag)
        if not same:
            raise ArgumentError(
                f"nd.{self.operator.name}: the tangent of '{self.operator.names[k]}' must have its "
                f"structure, {tree.type}; it is {directions.type}"
            )

    def check_shape(self, array, what, expected, words):
        """See that an array has the shape `expected`, on the CPU; a kernel checks no shapes."""
        if self.typingctx is cpu_target.typing_context:
            told = f"nd.{self.operator.name}: {what} must have the shape {words}"
            self.checks.append(f"if {array}.shape != {expected}: raise ArgumentError({told!r})")

    def source(self):
        """The call itself."""
        return f"f({', '.join(self.sources)})"

    def result(self):
        """The structure of what the call returns, read from `r`."""
        returned = call_type(self.typingctx, self.operator, self.namespace["f"], self.types)
        return parse(returned, "r")

    def numbers(self, tree, kind=types.Number | types.Boolean | Dual, what="numbers"):
        """The leaves of a result; ArgumentError where it holds anything but numbers of a kind."""
        found = list(leaves(tree))
        for leaf in found or [tree]:
            if not isinstance(leaf.type, kind):
                told = "an array" if _is_array(leaf.type) else describe(leaf.type)
                raise ArgumentError(
                    f"nd.{self.operator.name} needs a function that returns {what}; "
                    f"{self.operator.f.py_func.__name__} returns {told}"
                )
        return found

    def floats(self, tree):
        """The same for floats."""
        return self.numbers(tree, types.Float | Dual, "a float or a tuple of floats")

    def refuse_changes(self, beside=()):
        """Refuse a function that changes what several passes would change several times."""
        names = self.operator.names
        for k in sorted(changed(self.operator.f, self.types).difference(beside)):
            raise UnsupportedError(
                f"nd.{self.operator.name}: {self.operator.f.py_func.__name__} may write to "
                f"'{names[k]}', and forward mode calls it several times here. Way out: nd.cuda.jvp, "
                "which calls it once for each direction, with an array of tangents for this argument"
            )

    def define(self, parameters, lines):
        """The function of these lines."""
        body = "\n".join("    " + line for line in (*self.checks, *lines))
        source = f"def {self.operator.name.replace('.', '_')}_source({parameters}):\n{body}\n"
        return define(source, self.namespace)


def _is_array(ty):
    return isinstance(ty, types.Array | DualView)


def _alike(given, expected):
    """Whether an array has the axes and the numbers of another, and may be written to."""
    same = (given.ndim, given.dtype) == (expected.ndim, expected.dtype)
    return same and (given.mutable or not expected.mutable)


class Passes:
    """Calls of `f` by which all partials are found, a few a pass, by the arguments `wrt`.

    `call` has the arguments as they are otherwise, `places(k)` is the source of the array for argument `k`.
    """

    def __init__(self, call, wrt, tag, chunk):
        self.call, self.wrt, self.tag = call, wrt, tag
        self.trees = {k: self._tree(k) for k in wrt}
        self.arrays = [k for k in wrt if _is_array(call.types[k])]
        self.scalars = [
            (k, leaf) for k in wrt if k not in self.arrays for leaf in leaves(self.trees[k])
        ]
        self.scalars = [(k, leaf) for k, leaf in self.scalars if leaf.kind != "constant"]
        self.chunk = chunk
        self.lines = []

    def _tree(self, k):
        ty, source, operator = self.call.types[k], self.call.sources[k], self.call.operator
        tree = parse(ty, source)
        found = [tree] if isinstance(ty, DualView) else list(leaves(tree))
        name = f"nd.{operator.name} differentiates by argument '{operator.names[k]}', which"
        if not found or all(leaf.kind == "constant" and not _is_array(leaf.type) for leaf in found):
            raise ArgumentError(f"{name} is {describe(ty)}; it must hold floats{hint(ty)}")
        for leaf in found:
            if isinstance(tree, Branch) and _is_array(leaf.type):
                raise ArgumentError(f"{name} is a tuple that holds arrays; give these as arguments")
            if isinstance(base_scalar(getattr(leaf.type, "dtype", leaf.type)), types.Complex):
                raise ArgumentError(f"{name} is complex; pass its real and imaginary part")
        return tree

    def groups(self):
        """The scalars, as many at a time as one pass takes."""
        most = self.chunk or MOST_SCALARS
        return [self.scalars[i : i + most] for i in range(0, len(self.scalars), most)]

    def several(self):
        """Whether there may be more than one call."""
        return bool(self.arrays) or len(self.groups()) > 1

    def width(self, k):
        """Partials a pass by an array."""
        single = base_scalar(self.call.types[k].dtype) == types.float32
        return self.chunk or (8 if single else 4)

    def by_scalars(self, group):
        """The call with ones in the places of some scalars."""
        call = self.call.copy()
        n, replaced = len(group), {}
        for j, (_, leaf) in enumerate(group):
            source = f"unit({leaf.source}, {j}, {n}, {self.tag})"
            replaced[id(leaf)] = source, Dual(leaf.type, n, self.tag)
        for k in {k for k, _ in group}:
            call.put(k, self.trees[k], replaced)
        return call

    def by_array(self, k):
        """The call with ones in the places of elements of an array, from number `first` on."""
        call, n = self.call.copy(), self.width(k)
        array = self.call.types[k]
        call.types[k] = Seeded(array, Dual(array.dtype, n, self.tag))
        call.sources[k] = f"seeded({self.call.sources[k]}, first, {n}, {self.tag})"
        return call


def element_of(array, k, lead, ndim):
    """Lines that set the place of element number `c` of an array, and its source after `lead` indices.

    `array` is the source of the array that is counted; `k` names the place.
    """
    lines, axes = [], []
    rest = "c"
    for axis in reversed(range(1, ndim)):
        lines += [f"i{k}_{axis} = {rest} % {array}.shape[{axis}]"]
        lines += [f"d{k}_{axis} = {rest} // {array}.shape[{axis}]"]
        axes.insert(0, f"i{k}_{axis}")
        rest = f"d{k}_{axis}"
    return lines, ", ".join([*lead, rest, *axes])

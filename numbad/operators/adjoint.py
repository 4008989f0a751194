"""Writes code around a pullback: what goes in, the seed, the call, and the structure of what comes back.

Reverse mode gives one function, `pull(args, shadows, seed) -> (value, adjoints)`: `shadows` holds
an array for every array differentiated by, which the adjoint is added into; `adjoints` the rest.
Where some number is a dual (forward over reverse), every number differentiated by becomes one, so
that primals, shadows and seed have one scalar type.
"""

from numba import njit, typeof
from numba.core import types

from ..compilation.inherited import inherited_options
from ..compilation.memo import remembered
from ..errors import ArgumentError
from ..forward import dual_arrays
from ..forward.dual import base_scalar, primal_type, with_base
from ..forward.layout import zeros_as
from ..forward.promote import common_dual, effects
from ..reverse.pipeline import written_call
from ..rules.registry import JVP, SCALAR, VJP
from ..source import define
from . import brief as brief_arrays
from . import overlap, runtime
from .argument_structure import ArgumentLeaf, Branch, leaves, parse, render
from .describe import users_name
from .generated_names import Writer, indented
from .operator_dispatcher import original, parameter_names, starred
from .results import plain_result, scalar_of


def pullback_of(f, tys, wrt, lanes=None, by_code=False):
    """The pullback of a dispatcher by arguments `wrt`, with functions among its arguments bound.

    A rule is a caller's concern, so a function with a rule is called; and a function in a tuple
    would become what Numba calls a first-class function, whose code is not known. `by_code` is for
    seeds that leave members out, which a pullback that is no sweep does not know of.
    """
    from ..reverse import pullback

    if hasattr(f, "numbad_chosen"):  # another stands for it, for some types
        f = f.numbad_chosen([primal_type(ty) for ty in tys]) or f
    ruled = any(f in table for table in (SCALAR, JVP, VJP))
    ruled |= by_code and hasattr(f, "numbad_pullback")
    functions = {k: ty.dispatcher for k, ty in enumerate(tys) if isinstance(ty, types.Dispatcher)}
    if not functions and not ruled:
        return pullback(f, wrt, lanes=lanes)
    star = starred(f.py_func)
    rest = 0 if star is None else len(tys[star])
    places = [k for k in range(len(tys)) if k not in functions]
    places = tuple(places.index(k) for k in wrt)
    return pullback(caller(f, functions, rest), places, lanes=lanes)


def caller(f, functions, rest):
    """A dispatcher that calls `f` with some arguments bound to functions; always the same one.

    `*args` come in as a tuple of `rest` members.
    """
    known = remembered(f, "callers")
    key = (rest, *functions.items())
    if key not in known:
        star, count = starred(f.py_func), len(parameter_names(f.py_func))
        free = ", ".join(f"arg{k}" for k in range(count) if k not in functions)
        given = [f"function{k}" if k in functions else f"arg{k}" for k in range(count) if k != star]
        given = ", ".join([*given, *(f"arg{star}[{i}]" for i in range(rest))])
        namespace = {"f": f, **{f"function{k}": function for k, function in functions.items()}}
        source = f"def call({free}): return f({given})\n"
        options = inherited_options(f)
        known[key] = njit(define(source, namespace, f.py_func), **options)
    return known[key]


def left_out(f, given):
    """`(source, type)` of the arguments of `f` after those given, which have defaults."""
    *_, argtypes = f._compiler.fold_argument_types((types.undefined,) * given, {})
    return [(None, ty) for ty in argtypes[given:] if isinstance(ty, types.Omitted)]


class AdjointSource(Writer):
    """The source of a function that calls the pullback of `f`, under construction.

    `arguments` are `(source, type)` of every argument of `f`; `others` further types whose dual
    numbers the scalar type must hold: the seed's, say. `brief`
    makes arrays that end with the call, where nothing of what the pullback is given leaves it.
    """

    def __init__(
        self, operator, typingctx, f, arguments, wrt, others=(), namespace=None, brief=None
    ):
        super().__init__(namespace)
        self.operator, self.typingctx, self.f, self.brief = operator, typingctx, f, brief
        self.names = parameter_names(f.py_func)
        given = [*arguments, *left_out(f, len(arguments))]
        self.arguments = [self._explicit(source, ty) for source, ty in given]
        tys = [ty for _, ty in self.arguments]
        self.common = common_dual(typingctx, [*tys, *others])
        self.trees = [parse(ty, source) for source, ty in self.arguments]
        self.effects = effects(f, wrt, tys, by_types=overlap.may_meet(tys))
        self.wrt = tuple(sorted({*wrt, *self._written()}))
        free = [k for k, ty in enumerate(tys) if not isinstance(ty, types.Dispatcher)]
        self.places = {k: place for place, k in enumerate(free)}  # arguments of the pullback
        self.before, self.reset, self.after, self.checks = [], [], [], []
        self.shadows = {}  # id of an array's leaf -> the name of its shadow
        self.raised = {}  # id of a leaf -> its source in the common scalar type
        self._prepare()
        self.result = parse(plain_result(typingctx, f, tys), "value")
        by_code = getattr(operator, "has_aux", False)
        self.pull = pullback_of(original(f), tys, self.wrt, operator.vector_math, by_code)
        self.namespace.update(
            ArgumentError=ArgumentError,
            clear=brief_arrays.clear,
            copied=runtime.copied,
            **overlap.NAMES,
            store=runtime.store,
            fill_zero=runtime.fill_zero,
            set_to=runtime.set_to,
            zeros_as=zeros_as,
        )

    def _explicit(self, source, ty):
        """A default as a constant; a function meant for duals as the user's own."""
        if isinstance(ty, types.Omitted):
            return self.constant("default", ty.value), typeof(ty.value)
        if isinstance(ty, types.Dispatcher) and original(ty.dispatcher) is not ty.dispatcher:
            plain = original(ty.dispatcher)
            return self.constant("function", plain), types.Dispatcher(plain)
        return source, types.unliteral(ty)

    def _written(self):
        """Arguments that active values are written to take part, whether asked for or not."""
        for k in self.effects.written:
            if k < len(self.trees) and any(x.kind == "array" for x in leaves(self.trees[k])):
                yield k

    # -- arguments ---------------------------------------------------------------------------

    def scalar(self, ty):
        """A scalar type as it is in the pullback: in the common dual."""
        return ty if self.common is None else with_base(self.common, base_scalar(ty))

    def _prepare(self):
        given = {k: (ty, source) for k, (source, ty) in enumerate(self.arguments)}
        self.before += overlap.checks(self.operator, self.names, given, self.effects)
        for k in self.wrt:
            for leaf in leaves(self.trees[k]):
                if leaf.kind == "scalar":
                    ty = self.scalar(leaf.type)
                    same = ty == leaf.type
                    self.raised[id(leaf)] = leaf.source if same else self.cast(leaf.source, ty)
                elif leaf.kind == "array":
                    self._prepare_array(k, leaf)

    def _prepare_array(self, k, leaf):
        n, ty = len(self.shadows), self.scalar(leaf.type.dtype)
        source = leaf.source
        if ty != leaf.type.dtype:
            source = f"raised{n}"
            self._raise(source, leaf, ty)
            if k in self.effects.changed:
                self.after.append(f"store({leaf.source}, {source})")
        self.raised[id(leaf)] = source
        self.shadows[id(leaf)] = f"shadow{n}"
        self._make_shadow(f"shadow{n}", leaf.source, ty, leaf.type)

    def _is_brief(self, array_type):
        """Whether an array like one of a type ends with the call; one of unknown order does not."""
        return self.brief is not None and array_type.layout != "A"

    def _raise(self, name, leaf, ty):
        """Lines that make an array with scalars of type `ty` of that of a leaf."""
        if self._is_brief(leaf.type):
            self.before += self.brief.lines(name, leaf.source, ty)
            self.before.append(f"set_to({name}, {leaf.source})")
        else:
            convert = self.constant("as_dual", dual_arrays.as_dual(ty))
            self.before.append(f"{name} = {convert}({leaf.source})")

    def _make_shadow(self, name, source, ty, array_type):
        """Lines that make a shadow with scalars of type `ty`, and set it to zero again."""
        if self._is_brief(array_type):
            self.before += [*self.brief.lines(name, source, ty), f"clear({name})"]
            self.reset.append(f"clear({name})")
            return
        self.before.append(f"{name} = zeros_as({source}, {self.dtype(ty)})")
        self.reset.append(f"fill_zero({name})")

    def _argument(self, leaf):
        return self.raised.get(id(leaf), leaf.source)

    def _shadow(self, tree):
        if not any(id(leaf) in self.shadows for leaf in leaves(tree)):
            return "None"
        return render(tree, lambda leaf: self.shadows.get(id(leaf), "None"), self.namespace)

    def primal(self, k):
        """Source of argument `k` as it goes into the pullback."""
        return render(self.trees[k], self._argument, self.namespace)

    # -- the seed and the call ---------------------------------------------------------------

    def seed(self, leaf):
        """Source of the seed, `leaf(leaf)` giving that of every float and array of the result."""

        def source(x):
            return "None" if x.kind == "constant" else leaf(x)

        return render(self.result, source, self.namespace)

    def seed_of_one(self, value):
        """Source of the seed of the leaf `value` of the result, alone."""
        one = self.cast("1.0", self.scalar(value.type))
        return self.seed(lambda leaf: one if leaf is value else "None")

    def seed_from(self, source, ty):
        """Source of the seed that a cotangent of the result gives; arrays are copied."""
        given = self.matched(source, ty)
        return self.seed(lambda leaf: self._converted(leaf, given[id(leaf)]))

    def _converted(self, leaf, given):
        ty = self.scalar(scalar_of(leaf))
        if leaf.kind == "scalar":
            return self.cast(given.source, ty)
        name = f"seed{len(self.before)}"
        self.before.append(f"{name} = copied({given.source}, {self.dtype(ty)})")
        self.shape_check(f"{leaf.source}.shape", f"{name}.shape", "result")
        return name

    def matched(self, source, ty):
        """The leaf of a cotangent for each float and array of the result, by the id of that leaf."""
        given = parse(ty, source)
        found = dict(aligned(self.result, given))
        for leaf in leaves(self.result):
            if leaf.kind != "constant" and not _fits(found.get(id(leaf)), leaf):
                raise ArgumentError(
                    f"nd.{self.operator.name}: the cotangent must have the structure of the result "
                    f"of {users_name(self.f)}, {self.result.type}; it is {given.type}"
                )
        return found

    def seed_argument(self, k, source, ty):
        """Lines that give the final contents of argument `k` a cotangent."""
        tree, given = self.trees[k], parse(ty, source)
        if isinstance(tree, Branch) or tree.kind != "array":
            raise ArgumentError(
                f"nd.{self.operator.name}: out={k} names '{self.names[k]}', which is no array of floats"
            )
        if not _fits(given, tree):
            raise ArgumentError(
                f"nd.{self.operator.name}: the cotangent must have the structure of "
                f"'{self.names[k]}', {tree.type}; it is {ty}"
            )
        self.shape_check(f"{tree.source}.shape", f"{source}.shape", "argument that out= names")
        self.before += [self.checks.pop(), f"set_to({self.shadows[id(tree)]}, {source})"]

    def shape_check(self, expected, found, what):
        """Raise, after the call, where a cotangent has another shape."""
        told = f"nd.{self.operator.name}: the cotangent must have the shape of the {what}"
        self.checks.append(f"if {expected} != {found}:\n    raise ArgumentError({told!r})")

    def call(self, seed, without_value=False):
        """Lines that call the pullback, and check what could not be checked before."""
        args = "".join(self.primal(k) + ", " for k in self.places)
        shadows = "".join(
            (self._shadow(self.trees[k]) if k in self.wrt else "None") + ", " for k in self.places
        )
        given = f"({args}), ({shadows}), {seed}"
        in_place = without_value or self.brief is not None  # then the adjoints are all that counts
        call = written_call(self.pull, "pull", given, self.namespace, in_place)
        return [f"value, adjoints = {call}", *self.checks]

    # -- cotangents --------------------------------------------------------------------------

    def entries(self, k):
        """The cotangents of the leaves of argument `k`: source, or None for a constant."""
        for leaf, path in zip(leaves(self.trees[k]), self._paths(k), strict=True):
            if leaf.kind == "array":
                yield self.shadows[id(leaf)]
            elif leaf.kind == "scalar":
                yield self.cast(path.source, self.scalar(leaf.type))
            else:
                yield None

    def _paths(self, k):
        """The leaves of what the pullback returns for argument `k`."""
        return leaves(parse(self.arguments[k][1], f"adjoints[{self.places.get(k)}]"))

    def cotangent(self, k, wrap="{}"):
        """Source of the cotangent of argument `k`, with its structure; zeros for constants."""
        tree = self.trees[k]
        found = {
            id(leaf): wrap.format(entry) if entry else self.constant_zero(leaf)
            for leaf, entry in zip(leaves(tree), self.entries(k), strict=True)
        }
        return render(tree, lambda leaf: found[id(leaf)], self.namespace)

    def write(self, name, parameters, lines, returned):
        """The function of these lines, whose result is the source `returned`."""
        end = [f"return {returned}"]
        if self.brief is not None:
            end = [f"result = {returned}", *self.brief.end(), "return result"]
        lines = [*self.before, *lines, *self.after, *end]
        text = "\n".join(indented(line) for line in lines)
        return define(f"def {name}({parameters}):\n{text}\n", self.namespace)


def aligned(tree, given):
    """`(id of a leaf, leaf of another structure in its place)`, as far as the two agree."""
    if not isinstance(tree, Branch):
        yield id(tree), given
    elif isinstance(given, Branch) and len(given.members) == len(tree.members):
        for member, other in zip(tree.members, given.members, strict=True):
            yield from aligned(member, other)


def _fits(given, leaf):
    """Whether a member of a cotangent can stand for that of a leaf of the result."""
    if not isinstance(given, ArgumentLeaf) or isinstance(given.type, types.Array) != (
        leaf.kind == "array"
    ):
        return False
    if leaf.kind == "array" and given.type.ndim != leaf.type.ndim:
        return False
    scalar, wanted = base_scalar(scalar_of(given)), base_scalar(scalar_of(leaf))
    if isinstance(scalar, types.Complex) and not isinstance(wanted, types.Complex):
        return False
    return isinstance(scalar, types.Number | types.Boolean) and scalar != types.float16

"""Writes the code of a batch: of its values, and of its pullback; by blocks of lanes, or one by one."""

from numba import typeof
from numba.core import types

from ..errors import ArgumentError, UnsupportedError
from ..forward.dual import Dual
from ..forward.promote import effects
from ..operators import runtime
from ..operators.argument_structure import leaves, parse, render
from ..operators.generated_names import Writer, indented
from ..source import define
from .batch_axes import check_batched, defaults_after, element_types, plain

_GIVEN = types.Number | types.Boolean | types.NoneType | types.UnicodeType | Dual
_GIVEN |= types.Dispatcher | types.NumPyRandomGeneratorType


class BatchWriter(Writer):
    """The code of one batch, under construction: what both ways to evaluate it have in common.

    `entries` are the sources of all arguments, `tys` their types; `wrt` the numbers of those to
    differentiate by, none for the values alone.
    """

    takes_arrays = False  # whether the function may return them

    def __init__(self, batch, entries, tys, wrt=()):
        super().__init__({"np": runtime.np, "ArgumentError": ArgumentError})
        self.batch, self.entries, self.wrt = batch, list(entries), tuple(wrt)
        self.axes, self.tys = batch.axes, [plain(ty) for ty in tys]
        for value in defaults_after(len(tys), batch.f.py_func):
            self.entries.append(self.constant("default", value))
            self.tys.append(typeof(value))
        for k, axis in enumerate(self.axes):
            if axis is not None:
                check_batched(batch.names[k], self.tys[k], axis)
            self._refuse_objects(k)
        self.refuse_changed()
        self.batched = tuple(k for k, axis in enumerate(self.axes) if axis is not None)
        self.before, self.body, self.after = [], [], []
        self.arrays = []  # lines for arrays of arrays, once a result is there
        self.count()

    def refuse_changed(self):
        """Raise UnsupportedError for a function that may change its arguments."""
        tys = element_types(self.tys, self.axes)
        f = self.batch.f
        changed = effects(f, range(len(tys)), tys, by_types=True).changed
        if changed:
            raise UnsupportedError(
                f"nd.batch: {f.py_func.__name__} may change its argument "
                f"'{self.batch.names[min(changed)]}'. Way out: let it work on a copy and return its results"
            )

    def _refuse_objects(self, k):
        """What `f` may change by other ways than those of arrays."""
        for leaf in leaves(parse(self.tys[k], "")):
            scalar = leaf.type.dtype if isinstance(leaf.type, types.Array) else leaf.type
            if not isinstance(scalar, _GIVEN):
                raise UnsupportedError(
                    f"nd.batch: argument '{self.batch.names[k]}' holds a {leaf.type}. Way out: pass "
                    "numbers, arrays of numbers, and tuples of these"
                )

    def count(self):
        """Lines that count the elements."""
        first, *others = self.batched
        self.before.append(f"count = {self.entries[first]}.shape[{self.axes[first]}]")
        for k in others:
            told = (
                f"nd.batch: '{self.batch.names[first]}' and '{self.batch.names[k]}' have "
                "different lengths along the axis of the batch"
            )
            self.before.append(f"if {self.entries[k]}.shape[{self.axes[k]}] != count:")
            self.before.append(f"    raise ArgumentError({told!r})")

    def make_results(self, ty):
        """Arrays for what `f` returns, a `ty`; source of the batch's result."""
        self.result = parse(ty, "value")
        for number, leaf in enumerate(leaves(self.result)):
            leaf.number = number
            if isinstance(leaf.type, types.Number | types.Boolean) or leaf.kind == "scalar":
                self.before.append(f"out{number} = np.empty(count, {self.dtype(leaf.type)})")
            elif self.takes_arrays and _is_of_numbers(leaf):
                self._make_array(leaf)
            else:
                raise UnsupportedError(
                    "nd.batch needs a function that returns numbers, arrays of numbers or tuples of these; "
                    f"{self.batch.f.py_func.__name__} returns {ty}. Way out: return its elements as a "
                    "tuple, or write the loop"
                )
        return render(self.result, lambda leaf: f"out{leaf.number}", self.namespace)

    def _make_array(self, leaf):
        """Lines for an array of a result's arrays, whose shape the first element tells."""
        out, dtype, value = f"out{leaf.number}", self.dtype(leaf.type.dtype), leaf.source
        told = (
            f"nd.batch: {self.batch.f.py_func.__name__} returns arrays of one shape for one element of the "
            "batch, and of another shape for another"
        )
        self.before.append(f"{out} = np.empty({(0,) * (leaf.type.ndim + 1)}, {dtype})")
        self.arrays += [
            f"if i == 0: {out} = np.empty((count, *{value}.shape), {dtype})",
            f"if {out}.shape[1:] != {value}.shape: raise ArgumentError({told!r})",
        ]

    def seed(self, ty, of_number):
        """Source of the cotangent of one evaluation; `of_number(source)` is that of a number of it."""
        return render(
            parse(ty, "seed"),
            lambda leaf: of_number(leaf.source) if leaf.kind == "array" else "None",
            self.namespace,
        )

    def returned(self, result, adjoints):
        """What the pullback returns; `adjoints` has sources for arguments in `wrt` that hold floats."""
        return f"{result}, {self.tuple_of(adjoints.get(k, 'None') for k in range(len(self.axes)))}"

    def floats(self, k):
        """`(leaf of argument k, source of its adjoint in one evaluation)` of floats and arrays."""
        tree = parse(self.tys[k], self.entries[k])
        found = leaves(parse(self.tys[k], f"adjoints[{self.places[k]}]"))
        return [
            pair for pair in zip(leaves(tree), found, strict=True) if pair[0].kind != "constant"
        ]

    def shadow(self, leaf):
        """Source of what the caller gives for an array's adjoint."""
        return leaf.source.replace("args", "shadows", 1)

    def tuple_of(self, sources):
        return "(" + "".join(f"{s}, " for s in sources) + ")"

    def over_elements(self, source, ndim, line, start="0"):
        """A loop over the elements of an array, from `start` on, `line(index)` being done for each."""
        lines, starts = [], [start] + ["0"] * ndim
        for k in range(ndim):
            lines.append("    " * k + f"for j{k} in range({starts[k]}, {source}.shape[{k}]):")
        index = "".join(f"j{k}, " for k in range(ndim))
        return [*lines, "    " * ndim + line(f"({index})")]

    def write(self, name, parameters, loop, returned):
        lines = [*self.before, loop, *map(indented, self.body), *self.after, f"return {returned}"]
        text = "\n".join(indented(line) for line in lines)
        return define(f"def {name}({parameters}):\n{text}\n", self.namespace)


def _is_of_numbers(leaf):
    """Whether a member of a result is an array of numbers."""
    is_array = isinstance(leaf.type, types.Array)
    whole = types.Integer | types.Boolean
    return leaf.kind == "array" or (is_array and isinstance(leaf.type.dtype, whole))

"""Writes the functions that run a parallel loop in pieces, one a thread, and add up what they give.

Threads get numbers and arrays, each under a name of its own: tuples are taken apart before and put
together again within.
"""

import numpy as np
from numba import get_num_threads, njit, prange
from numba.core import types

from ..ir.leaves import leaves
from .memory_helpers import add_into

_TAIL = """            done[c] = True
    if not done.all():
        raise RuntimeError("an iteration of a parallel loop raised an error")
"""


@njit
def zeros_for_each(pieces, array):
    """Zeros of the shape of an array for each piece, along a first axis."""
    return np.zeros((pieces, *array.shape), array.dtype)


@njit
def in_order(parts):
    """The sum of what the pieces give."""
    total = parts[0]
    for k in range(1, len(parts)):
        total += parts[k]
    return total


_HELPERS = {f.__name__: f for f in (add_into, get_num_threads, in_order, prange, zeros_for_each)}


def write_primal(argtypes, result):
    """The source of `parallel_loop(*args) -> sums`; `kernel` is the pullback of a piece by nothing."""
    names = ", ".join(f"a{k}" for k in range(len(argtypes)))
    pieces = _Pieces(argtypes, result, (), {})
    pieces.add(f"def parallel_loop({names}):")
    pieces.unpack("a{}")
    pieces.run("None")
    pieces.add(f"    return {pieces.total()}")
    return pieces


def write_pullback(argtypes, result, wrt, reach):
    """The source of `pull(args, shadows, seed) -> (sums, adjoints)`; `kernel` is that of a piece.

    `reach` says how far from its number an iteration touches an array, a pair of argument and path. The
    pieces share the shadows of these arrays; where one reaches into the next, neighbours take turns. Of
    any other array each piece has its own shadow.
    """
    pieces = _Pieces(argtypes, result, wrt, reach)
    pieces.add("def pull(args, shadows, seed):")
    pieces.unpack("args[{}]")
    pieces.unpack_shadows()
    pieces.run(pieces.unpacked_seed())
    pieces.add_up_adjoints()
    pieces.add(f"    return {pieces.total()}, {pieces.adjoints()}")
    return pieces


class _Pieces:
    """The text of such a function, and the globals that it needs: `text`, `names`."""

    def __init__(self, argtypes, result, wrt, reach):
        self.argtypes, self.result, self.wrt, self.reach = argtypes, result, wrt, reach
        self.text, self.names = "", {"np": np, **_HELPERS}

    def add(self, *lines):
        self.text += "".join(f"{line}\n" for line in lines)

    # -- what goes in ------------------------------------------------------------------------

    def unpack(self, given):
        """Give every number and array of the arguments a name."""
        for k, ty in enumerate(self.argtypes):
            for path, _ in _atoms(ty):
                self.add(f"    {_name('a', k, path)} = {given.format(k)}{_items(path)}")

    def unpack_shadows(self):
        """Give every shadow a name, and those that the pieces have each their own room for these."""
        for k, path, _ in self._arrays():
            self.add(f"    {_name('s', k, path)} = shadows[{k}]{_items(path)}")

    def unpacked_seed(self):
        if not isinstance(self.result, types.BaseTuple):
            self.add("    seed_0 = seed")
            return "seed_0"
        for k in range(len(self.result)):
            self.add(f"    seed_{k} = seed[{k}]")
        return self._tuple(f"seed_{k}" for k in range(len(self.result)))

    def _arrays(self):
        """The arrays to differentiate by."""
        for k in self.wrt:
            for leaf in leaves(self.argtypes[k]):
                if leaf.kind == "array":
                    yield k, leaf.path, leaf.type

    def _floats(self):
        for k in self.wrt:
            for leaf in leaves(self.argtypes[k]):
                if leaf.kind == "scalar":
                    yield k, leaf.path, leaf.type

    # -- the pieces --------------------------------------------------------------------------

    def run(self, seed):
        """The parallel loop over the pieces."""
        sums = list(self._sums())
        self.add(
            "    first, last = a0, a1",
            "    count = max(last - first, 0)",
            *self._number_of_pieces(),
            "    done = np.zeros(pieces, np.bool_)",
        )
        for name, ty, _ in sums:
            self.add(f"    {name} = np.zeros(pieces, np.{ty})")
        for k, path, ty in self._floats():
            self.add(f"    {_name('d', k, path)} = np.zeros(pieces, np.{ty})")
        for k, path, ty in self._own_arrays():
            shadow = _name("s", k, path)
            like = f"{shadow}.T" if ty.layout == "F" else shadow
            self.add(f"    {_name('p', k, path)} = zeros_for_each(pieces, {like})")
        self.add(
            "    for turn in range(turns):",
            "        for c_of_turn in prange(pieces // turns):",
            "            c = c_of_turn * turns + turn",
            "            begin, end = first + count * c // pieces, first + count * (c + 1) // pieces",
            f"            value, adjoints = kernel({self._arguments()}, {self._shadows()}, {seed})",
        )
        for name, _, item in sums:
            self.add(f"            {name}[c] = value{item}")
        for k, path, _ in self._floats():
            self.add(f"            {_name('d', k, path)}[c] = adjoints[{k}]{_items(path)}")
        self.text += _TAIL

    def _number_of_pieces(self):
        """Lines that set `pieces`, and `turns`: neighbours that reach into each other take turns."""
        reach = max([self.reach.get((k, path), 0) for k, path, _ in self._arrays()], default=0)
        if not reach:
            yield "    pieces, turns = max(min(count, get_num_threads()), 1), 1"
        else:  # an index that counts from the end leads from the first piece to the last: not both at once
            yield "    pieces, turns = 2 * get_num_threads(), 2"
            yield f"    if count < pieces * {2 * reach}:"
            yield "        pieces, turns = 1, 1"
        if any((k, path) in self.reach for k, path, _ in self._arrays()):
            # a[-1] is the last element, which another iteration may read by its own number
            yield "    if first < 0:"
            yield "        pieces, turns = 1, 1"

    def _sums(self):
        """The sums that a piece returns: `(name, type, how to take it from the value)`."""
        if isinstance(self.result, types.BaseTuple):
            for k, ty in enumerate(self.result.types):
                yield f"v{k}", ty, f"[{k}]"
        elif not isinstance(self.result, types.NoneType):
            yield "v0", self.result, ""

    def _own_arrays(self):
        return [x for x in self._arrays() if x[:2] not in self.reach]

    def _arguments(self):
        rest = [self._rebuilt(k, ty, ()) for k, ty in enumerate(self.argtypes) if k > 1]
        return self._tuple(["begin", "end", *rest])

    def _rebuilt(self, k, ty, path):
        """An argument from its parts."""
        if not isinstance(ty, types.BaseTuple):
            return _name("a", k, path)
        members = [self._rebuilt(k, t, (*path, i)) for i, t in enumerate(ty.types)]
        if not isinstance(ty, types.BaseNamedTuple):
            return self._tuple(members)
        name = f"class_{ty.instance_class.__name__}_{_name('', k, path)}"
        self.names[name] = ty.instance_class
        return f"{name}({', '.join(members)})"

    def _shadows(self):
        return self._tuple(
            self._shadow(k, ty, ()) if k in self.wrt else "None"
            for k, ty in enumerate(self.argtypes)
        )

    def _shadow(self, k, ty, path):
        if not any(leaf.kind == "array" for leaf in leaves(ty)):
            return "None"
        if isinstance(ty, types.BaseTuple):
            return self._tuple(self._shadow(k, t, (*path, i)) for i, t in enumerate(ty.types))
        if (k, path) in self.reach:
            return _name("s", k, path)
        return f"{_name('p', k, path)}[c]" + (".T" if ty.layout == "F" else "")

    @staticmethod
    def _tuple(members):
        return f"({''.join(f'{m}, ' for m in members)})" if members else "()"

    # -- what comes out ----------------------------------------------------------------------

    def total(self):
        """The sums over the pieces, in their order."""
        names = [name for name, _, _ in self._sums()]
        if not names:
            return "None"
        totals = [f"in_order({name})" for name in names]
        return totals[0] if not isinstance(self.result, types.BaseTuple) else self._tuple(totals)

    def add_up_adjoints(self):
        for k, path, ty in self._own_arrays():
            part = f"{_name('p', k, path)}[c]" + (".T" if ty.layout == "F" else "")
            self.add("    for c in range(pieces):")
            self.add(f"        add_into({_name('s', k, path)}, {part})")

    def adjoints(self):
        return self._tuple(
            self._adjoint(k, ty, ()) if k in self.wrt else "None"
            for k, ty in enumerate(self.argtypes)
        )

    def _adjoint(self, k, ty, path):
        if isinstance(ty, types.BaseTuple):
            return self._tuple(self._adjoint(k, t, (*path, i)) for i, t in enumerate(ty.types))
        number = isinstance(ty, types.Float | types.Complex)
        return f"in_order({_name('d', k, path)})" if number else "None"


def _atoms(ty, path=()):
    """The numbers and arrays of a value, with the member numbers that lead there."""
    if isinstance(ty, types.BaseTuple):
        for k, member in enumerate(ty.types):
            yield from _atoms(member, (*path, k))
    else:
        yield path, ty


def _name(letter, k, path):
    return "_".join([f"{letter}{k}", *map(str, path)])


def _items(path):
    return "".join(f"[{i}]" for i in path)

"""Results that depend on what is differentiated through an index, or through rounded numbers, alone.

`grid[np.argmin(cost)]`, a grid search, depends on the parameters of the costs, and yet no number of it is
computed from them; `round(cost, 12)` is made of steps. The user is warned of a function, the one that an
operator was asked to differentiate, with these properties:

* nothing differentiated flows into its result;
* the result is picked by an index that a function finds (`np.argmin`, `np.argsort`, `np.searchsorted`), or
  that a loop keeps when a comparison of differentiated values tells it to (`if cost < least: best = i`);
  or it is computed from numbers that are rounded to digits; or it is an array or a list that such numbers
  were stored in.

What else goes into the result is differentiated rightly, so that a function says nothing where it returns
`x[np.argmin(x)]`, or looks up a rate and multiplies by it. Counters and marks, which are not picked, say
nothing, nor does what is rounded to whole numbers, which is meant to be made of steps.
"""

import threading
from contextlib import contextmanager
from weakref import WeakKeyDictionary

from numba.core import ir, types

from ..compilation.notices import warn_once
from .function import is_expr, operands
from .searches import DataFlow, LoopSearch, is_own, source_line

_FINDING = (
    *("argmin", "argmax", "nanargmin", "nanargmax", "argsort", "argpartition", "searchsorted"),
    *("digitize", "nonzero", "flatnonzero", "argwhere", "index"),
)

_ROUNDING = "round", "around", "round_"

_STORING = "append", "fill", "extend", "insert"

_LOCAL = threading.local()  # `asked`: code of the functions whose derivatives are being compiled
_places = WeakKeyDictionary()  # code of a callee -> where it picks or rounds its result


@contextmanager
def asked_for(function):
    """While the derivative of a function is compiled: it is the one to be told of, not its callees."""
    _asked().append(function.__code__)
    try:
        yield
    finally:
        _asked().pop()


def _asked():
    return vars(_LOCAL).setdefault("asked", [])


def warn_of_flat_result(code, blocks, kinds, original=lambda function: function, callee=None):
    """Warn once if the function with some code has such a result; blocks in SSA form, with phis.

    kinds: whether a name stands for something differentiated; for a number or something that holds numbers
    original: the function of NumPy's or the name of the method that one in the code stands for
    callee: of a call of a dispatcher, the blocks and the kinds of its code, or None where these are not
        known; no function where callees were compiled before
    """
    found = _FlatResult(blocks, *kinds, original, callee).found()
    if found is not None and not is_own(found[0]):
        _places[code] = found
        if _asked()[:1] == [code]:
            place, message = found
            warn_once(message(place), place)


def holds_numbers(ty):
    """Whether a type is of numbers, or arrays or tuples of them."""
    members = ty if isinstance(ty, types.BaseTuple) else [getattr(ty, "dtype", ty)]
    return any(isinstance(types.unliteral(one), types.Number) for one in members)


def _picked(loc):
    return (
        "the result depends on differentiated quantities through an index alone, so that its derivative is "
        "0: nothing differentiated flows into it, and this line picks it by comparing:\n"
        f"    {source_line(loc)}\nWay out: nd.minimize_scalar for the place of a minimum, an average "
        "weighted by np.exp(-cost / width), or the value that was found, as x[np.argmin(x)], which has a "
        "derivative; if 0 is meant, nd.stop_gradient around what is compared"
    )


def _rounded(loc):
    return (
        "the result depends on differentiated quantities through rounded numbers alone, so that its "
        "derivative is 0: a rounded number is made of steps, and this line rounds:\n"
        f"    {source_line(loc)}\nWay out: differentiate the function without rounding and round what it "
        "returns; if 0 is meant, nd.stop_gradient around what is rounded"
    )


class _FlatResult:
    """One function."""

    def __init__(self, blocks, is_varied, holds_numbers, original, callee=None):
        self.flow, self.original, self.callee = DataFlow(blocks), original, callee
        self.is_varied, self.holds_numbers = is_varied, holds_numbers

    def found(self):
        """The place of what finds the index or rounds, the first if there are several, and the warning."""
        results = self.flow.results
        if not any(map(self.holds_numbers, results)):
            return None
        if any(map(self.is_varied, results)) and not self._is_rounded(results):
            return None
        useful = self._useful()
        places = [loc for name in useful for loc in self._of_call(name)]
        for loop in self.flow.cfg.loops().values():
            search = LoopSearch(self.flow, loop, self.is_varied)
            places += [loc for name in useful for loc in self._kept(search, name)]
        return min(places, key=lambda found: found[0].line, default=None)

    def _is_rounded(self, results):
        """Whether all that flows into results is rounded, although they are of types that are varied."""
        calls = (value for _, value in self.flow.made.values() if is_expr(value, "call"))
        if not any(self._name(self.flow.function(call.func)) in _ROUNDING for call in calls):
            return False
        return self.flow.sensitive(self.is_varied).isdisjoint(results)

    def _useful(self):
        """What the results are computed from, with what is stored in their arrays and lists.

        Where something is stored does not count: a histogram is not picked.
        """
        stored, useful = [*self._stored()], set(self.flow.useful)
        while True:
            into = [s for s in stored if s[0] & useful]
            if not into:
                return useful
            stored = [s for s in stored if s not in into]
            for bases, name, index in into:
                useful |= self._behind(name, bases, index)

    def _behind(self, name, bases, index):
        """What goes into a stored value, but for the element that is there, as of `counts[k] += 1`."""
        seen, pending = set(), [name]
        while pending:
            name = pending.pop()
            _, value = self.flow.made.get(name, (None, None))
            if name in seen or (index is not None and self._reads(value, bases, index)):
                continue
            seen.add(name)
            pending += [v.name for v in operands(value) if isinstance(v, ir.Var)]
        return seen

    def _reads(self, value, bases, index):
        """Whether this reads the element of an array at an index."""
        if not is_expr(value, "getitem", "static_getitem") or value.value.name not in bases:
            return False
        at = value.index if value.op == "getitem" else value.index_var
        return at is not None and self._source(at.name) == self._source(index.name)

    def _source(self, name):
        """The name that a name is but another one for."""
        _, value = self.flow.made.get(name, (None, None))
        return self._source(value.name) if isinstance(value, ir.Var) else name

    def _stored(self):
        """`(names of the array or list, name of what is put into it, index)` of each such statement."""
        for block in self.flow.blocks.values():
            for s in block.body:
                if isinstance(s, ir.SetItem | ir.StaticSetItem):
                    index = s.index if isinstance(s, ir.SetItem) else s.index_var
                    yield self._bases(s.target.name), s.value.name, index
        for _, call in self.flow.made.values():
            if is_expr(call, "call"):
                _, method = self.flow.made.get(call.func.name, (None, None))
                if is_expr(method, "getattr") and method.attr in _STORING:
                    bases = self._bases(method.value.name)
                    yield from ((bases, v.name, None) for v in call.args)

    def _bases(self, name):
        """The names of an array and of those that it is a view of."""
        seen, pending = set(), [name]
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                _, value = self.flow.made.get(name, (None, None))
                if isinstance(value, ir.Var):
                    pending.append(value.name)
                elif is_expr(value, "phi"):
                    pending += [v.name for v in value.incoming_values if isinstance(v, ir.Var)]
                elif is_expr(value, "getitem", "static_getitem", "getattr", "cast"):
                    pending.append(value.value.name)
        return seen

    def _of_call(self, name):
        """Where a name is what a function finds out about differentiated values, or rounds them to."""
        _, value = self.flow.made.get(name, (None, None))
        if not is_expr(value, "call"):
            return
        given = [*value.args, *(v for _, v in value.kws)]
        function = self.flow.function(value.func)
        _, read = self.flow.made.get(value.func.name, (None, None))
        if function is None and is_expr(read, "getattr"):
            given, function = [*given, read.value], read.attr
        if not any(self.is_varied(v.name) for v in given):
            return
        if hasattr(function, "py_func"):
            yield from self._of_callee(function, value)
        elif self._name(function) in _FINDING:
            yield value.loc, _picked
        elif self._name(function) in _ROUNDING and self._has_digits(function, value):
            yield value.loc, _rounded

    def _has_digits(self, function, call):
        """Whether numbers are rounded to digits: a method takes them first, a function second."""
        return len(call.args) + len(call.kws) > (not isinstance(function, str))

    def _of_callee(self, function, call):
        """Where a callee picks or rounds its result."""
        code = function.py_func.__code__
        if code not in _places and self.callee is not None:
            known = self.callee(function, call)
            _places[code] = known and _FlatResult(*known, self.original).found()
        if _places.get(code) is not None:
            yield _places[code]

    def _name(self, function):
        function = self.original(function)
        return function if isinstance(function, str) else getattr(function, "__name__", None)

    def _kept(self, search, name):
        """Where a loop keeps what a name stands for, or takes another, by comparing."""
        label, value = self.flow.made.get(name, (None, None))
        if label not in search.body or not is_expr(value, "phi") or self.is_varied(name):
            return
        if not self._is_pick(search, name, value):
            return
        for branch in search.branches(label):
            asked = self.flow.behind([branch.cond.name], search.body)
            if any(map(self.is_varied, asked)):
                yield branch.loc, _picked

    def _is_pick(self, search, name, phi):
        """Whether one way keeps what a loop carries, and another has something else of the iteration."""
        values = [v.name for v in phi.incoming_values if isinstance(v, ir.Var)]
        behind = [self.flow.behind([v], search.body) for v in values]
        for kept in search.carried:
            others = [n for names in behind if kept not in names for n in names]
            is_kept = any(kept in names for names in behind) and name in search.behind_next(kept)
            if is_kept and any(self._is_of_iteration(search, other) for other in others):
                return True
        return False

    def _is_of_iteration(self, search, name):
        """Whether a name stands for an index of the loop, an element, or another number it carries."""
        label, value = self.flow.made.get(name, (None, None))
        kinds = "getitem", "static_getitem", "pair_first", "phi"
        return label in search.body and is_expr(value, *kinds)

"""Which jumps of a right-hand side its solver is told of, by events and times at which steps end."""

import inspect
from typing import NamedTuple

from numba.core import errors, ir
from numba.core.dispatcher import Dispatcher

from numbad.ir.function import read_by
from numbad.ir.untyped import untyped


class Positions(NamedTuple):
    """Numbers of arguments: some, and all from `rest` on, where that is not None."""

    some: tuple = ()
    rest: int | None = None

    def __contains__(self, position):
        return position in self.some or (self.rest is not None and position >= self.rest)

    def __or__(self, other):
        starts = [one.rest for one in (self, other) if one.rest is not None]
        return Positions(tuple(sorted({*self.some, *other.some})), min(starts, default=None))

    def moved(self, by):
        """The numbers that are `by` larger, of those that are not negative then."""
        some = tuple(position + by for position in self.some if position + by >= 0)
        return Positions(some, None if self.rest is None else max(self.rest + by, 0))


ALL = Positions((), 0)


class KnownSwitches(NamedTuple):
    """Whether switches by the state are known, and by which of `args` times of switches are."""

    by_state: bool = False
    by_args: Positions = Positions()


NONE_KNOWN = KnownSwitches()
ALL_KNOWN = KnownSwitches(True, ALL)


def known_switches(events):
    """What the solver knows from events: those by what their conditions or their times are computed from."""
    by_state, by_args = False, Positions()
    for event in events:
        if event.times is not None:
            by_args |= arguments_read(event.times)
            continue
        read = arguments_read(event.condition)
        by_state |= 1 in read
        if 0 in read:
            by_args |= read.moved(-2)
    return KnownSwitches(by_state, by_args)


def arguments_read(dispatcher, seen=frozenset()):
    """The `Positions` of the arguments that the code of a dispatcher reads, all where it cannot be told."""
    if dispatcher in seen:
        return ALL
    try:
        func_ir = untyped(dispatcher)
    except (errors.NumbaError, errors.UnsupportedBytecodeError):
        return ALL  # the compilation proper tells what is wrong
    reader = _ReadArguments(dispatcher, func_ir, seen | {dispatcher})
    found = Positions()
    for block in func_ir.blocks.values():
        for statement in block.body:
            found |= reader.read_by(statement)
    return found


class _ReadArguments:
    """What the statements of a function read of its arguments."""

    def __init__(self, dispatcher, func_ir, seen):
        self.seen = seen
        self.values, self.numbers, self.rest = {}, {}, None
        takes_rest = dispatcher.py_func.__code__.co_flags & inspect.CO_VARARGS
        for block in func_ir.blocks.values():
            for s in block.find_insts(ir.Assign):
                if isinstance(s.value, ir.Arg):
                    self.numbers[s.target.name] = s.value.index
                    if takes_rest and s.value.index == len(func_ir.arg_names) - 1:
                        self.rest = s.target.name
                elif isinstance(s.value, ir.Const | ir.Global | ir.FreeVar):
                    self.values[s.target.name] = s.value.value
                elif (number := self._number(s.value)) is not None:
                    self.numbers[s.target.name] = number

    def _number(self, value):
        """The number of the argument that an expression `rest[constant]` is."""
        if getattr(value, "op", None) != "getitem" or value.value.name != self.rest:
            return None
        index = self.values.get(value.index.name)
        return self.numbers[self.rest] + index if isinstance(index, int) and index >= 0 else None

    def read_by(self, statement):
        value = getattr(statement, "value", None)
        if isinstance(statement, ir.Assign) and self._number(value) is not None:
            return Positions()
        if getattr(value, "op", None) == "call":
            callee = self.values.get(value.func.name)
            if isinstance(callee, Dispatcher):
                return self._handed_on(value, callee)
        return self._positions(var.name for var in read_by(statement))

    def _positions(self, names):
        found = Positions()
        for name in names:
            if name == self.rest:
                found |= Positions((), self.numbers[name])
            elif name in self.numbers:
                found |= Positions((self.numbers[name],))
        return found

    def _handed_on(self, call, callee):
        """What a callee reads of the arguments that it is given."""
        read = arguments_read(callee, self.seen)
        names = list(inspect.signature(callee.py_func).parameters)
        given = [(k, value.name) for k, value in enumerate(call.args)]
        given += [(names.index(name), value.name) for name, value in call.kws if name in names]
        found = self._positions(name for k, name in given if k in read)
        if call.vararg is None:
            return found
        first = len(call.args)
        if call.vararg.name != self.rest:
            return found | self._positions([call.vararg.name])
        beyond = Positions(tuple(k for k in read.some if k >= first), read.rest).moved(-first)
        return found | beyond.moved(self.numbers[self.rest])

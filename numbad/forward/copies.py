"""Where a copy of what an array shows may stand for a view of it, since nobody can tell."""

from numba.core import ir

from .data_flow import Flow
from .instances import instances_met
from .promote import Analyser, DualActivity, shares_nothing


def statements(blocks):
    for block in blocks.values():
        yield from block.body


class Use:
    """Where a function's names are used, and where the memory that they share is written to.

    `direct` are the statements that take or set an item of what is copied: they will get at the array.
    `apart` gives for a name those of other copies of the same memory, no number of which it shows.
    """

    def __init__(self, func_ir, args, direct, apart):
        self.apart = apart
        self.blocks = func_ir.blocks
        self.direct = {id(s) for s in direct}
        instances = instances_met(func_ir, args)
        self.flow = Flow(func_ir, args, _numbers_given(func_ir, args), instances).build()
        self.activity = DualActivity(self.flow, frozenset(), Analyser(instances), every_store=True)

    def names(self, statement):
        """The names that a statement reads; of what it takes an item, only if that may be a copy."""
        if id(statement) in self.direct:
            return _names_of_item(statement)
        names = {v.name for v in statement.list_vars()}
        return names - {statement.target.name} if isinstance(statement, ir.Assign) else names

    def is_as_if_shared(self, statement):
        """Whether nobody can tell that what a statement takes of an array is a copy."""
        name = statement.target.name
        derived = self._derived(name)
        shared = self._may_share(name)
        written = (s for s in statements(self.blocks) if id(s) not in self.direct)
        if any(self.activity.written_by(s) & derived for s in written):
            return False
        return not (self._escapes(name, derived) or self._is_stale(statement, derived, shared))

    def _may_share(self, name):
        """The names that may share memory with one; a caller may give one array for two parameters."""
        shared, parameters = self.flow.reached({name}), set(self.flow.parameters.values())
        return self.flow.reached(shared | parameters) if shared & parameters else shared

    def _derived(self, name):
        """The names that share memory with what `name` stands for, by way of it."""
        derived, pending = {name}, [name]
        while pending:
            source = pending.pop()
            new = (self.flow.forward[source] & self.flow.shares[source]) - derived
            derived |= new
            pending += new
        return derived

    def _escapes(self, name, derived):
        """Whether a caller gets hold of it who may get hold of the array too."""
        if not self.flow.results & derived:
            return False
        of_array = self._shared_without(derived, name)
        others = of_array - self.apart(name)
        elsewhere = any((self.flow.forward[s] & derived) - {name} for s in others)
        return elsewhere or bool(of_array & set(self.flow.parameters.values()))

    def _shared_without(self, derived, name):
        """The names that may share the array's memory, which what a tuple holds beside its part does not."""
        found, pending = set(), [name]
        while pending:
            new = self.flow.shares[pending.pop()] - derived - found
            found |= new
            pending += new
        return found

    def _is_stale(self, statement, derived, shared):
        """Whether it may be used after the memory it was taken of was written to."""
        for later in self._after(statement, statement):
            if self.activity.written_by(later) & shared:
                copies_first = isinstance(later, ir.SetItem | ir.StaticSetItem)
                if not copies_first and self.names(later) & derived:
                    return True
                if any(self.names(s) & derived for s in self._after(later, statement)):
                    return True
        return False

    def _after(self, statement, stop):
        """The statements that may be run after one, until `stop` is run."""
        block = next(b for b in self.blocks.values() if any(s is statement for s in b.body))
        place = next(k for k, s in enumerate(block.body) if s is statement)
        pending, seen = [block.body[place + 1 :]], set()
        while pending:
            for later in pending.pop():
                if later is stop:
                    break
                yield later
                if later.is_terminator:
                    targets = [t for t in later.get_targets() if t not in seen]
                    seen.update(targets)
                    pending += [self.blocks[t].body for t in targets]


def _numbers_given(func_ir, args):
    """The names of the parameters that are numbers, which share no memory with anything."""
    given = [s for s in statements(func_ir.blocks) if isinstance(s, ir.Assign)]
    return frozenset(
        s.target.name
        for s in given
        if isinstance(s.value, ir.Arg) and shares_nothing(args[s.value.index])
    )


def _names_of_item(statement):
    """The names of the index, and of what is assigned, where an item is taken or set."""
    access = statement.value if isinstance(statement, ir.Assign) else statement
    used = [access.index if isinstance(access.index, ir.Var) else access.index_var]
    used += [statement.value] if access is statement else []
    return {v.name for v in used if isinstance(v, ir.Var)}

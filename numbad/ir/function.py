"""A function as typed SSA blocks: the form that the analyses and the adjoint work on."""

import operator
from copy import copy
from dataclasses import dataclass, field

from numba.core import ir, types


@dataclass
class Function:
    """Typed SSA blocks of Numba IR, with phis; every name is assigned once.

    `blocks` maps labels to blocks, the smallest label is the entry; `types` and `calls` say what
    inference found for names and call expressions; `parameters` are the names that hold the
    arguments.
    """

    name: str
    blocks: dict
    types: dict
    calls: dict
    parameters: list
    loc: ir.Loc
    serial: int = 0  # of the inlined copies, for fresh names
    chains: dict = field(default_factory=dict)  # target of a call -> the callees that it lies in
    recursive: dict = field(default_factory=dict)  # target of a call -> (dispatcher, types)
    strict: bool = False  # a callee asks for arithmetic without fastmath
    checked: bool = False  # a callee asks for checked bounds
    tells_nan: bool = False  # the code that it was taken out of asks of anything whether it is NaN
    names: dict = field(default_factory=dict)  # temporary -> the source's name for it
    sites: dict = field(default_factory=dict)  # label -> places of the calls that it lies in
    written: set = field(
        default_factory=set
    )  # of the inlined copies, those of code that numbad wrote
    _definitions: dict = field(default=None, repr=False)

    @property
    def entry(self):
        return min(self.blocks)

    @property
    def scope(self):
        return self.blocks[self.entry].scope

    def statements(self):
        """`(label, statement)` for every statement."""
        for label, block in self.blocks.items():
            for statement in block.body:
                yield label, statement

    @property
    def definitions(self):
        """name -> (label, right-hand side)."""
        if self._definitions is None:
            self._definitions = self._defined(self.blocks)
        return self._definitions

    def _defined(self, labels):
        return {
            s.target.name: (label, s.value)
            for label in labels
            for s in self.blocks[label].body
            if isinstance(s, ir.Assign)
        }

    def changed(self, labels=None):
        """Forget what was derived from the blocks; with `labels`, where all that is new lies in these.

        Names that are gone, and were not defined anew, must not be asked for then.
        """
        if labels is None or self._definitions is None:
            self._definitions = None
        else:
            self._definitions.update(self._defined(labels))

    def definition(self, var):
        """The right-hand side that defines a variable, or None."""
        return self.definitions.get(name_of(var), (None, None))[1]

    def place_of(self, name):
        """The block that a name is assigned in; the entry for parameters."""
        found = self.definitions.get(name)
        return self.entry if found is None else found[0]

    def origin(self, var):
        """The right-hand side whose value a variable has, however it was handed on; None of several.

        In `q.scale(x if x > y else y)` the method goes round the branch, as a copy in each part of it.
        """
        found, pending, seen = [], [name_of(var)], set()
        while pending:
            name = pending.pop()
            if name in seen:
                continue
            seen.add(name)
            value = self.definition(name)
            if isinstance(value, ir.Var) or is_expr(value, "phi"):
                pending += [v.name for v in operands(value)]
            else:
                found.append(value)
        return found[0] if len(found) == 1 else None

    def type_of(self, var):
        """The type of a variable or a name."""
        return self.types.get(name_of(var))

    def is_type(self, var):
        """Whether a variable holds a type, as `float64[:]` in `List.empty_list(float64[:])`.

        Numba says of it that it is an array.
        """
        value = self.origin(var)
        made = is_expr(value, "getitem", "static_getitem")
        return made and isinstance(self.type_of(value.value), types.NumberClass)

    def fresh(self, hint, ty, loc=None):
        """A new variable of type `ty`."""
        self.serial += 1
        name = f"{hint}@{self.serial}"
        self.types[name] = ty
        return ir.Var(self.scope, name, loc or self.loc)

    def is_written(self, var):
        """Whether a name is one of code that numbad wrote for a function of NumPy's, and inlined."""
        return name_of(var).rpartition("#")[2] in self.written

    def new_label(self):
        return max(self.blocks) + 1

    def constant(self, var):
        """The Python value behind a variable: a literal, a global, an attribute of a module."""
        value = self.definition(var)
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return value.value
        if isinstance(value, ir.Var):
            return self.constant(value)
        if isinstance(value, ir.Expr) and value.op == "getattr":
            owner = self.constant(value.value)
            return None if owner is None else getattr(owner, value.attr, None)
        return None


_UNARY = {"-": operator.neg, "+": operator.pos, "not": operator.not_, "~": operator.invert}


def unary_function(value):
    """The function of a unary expression, which Numba writes as a string or as the function itself."""
    return _UNARY.get(value.fn, value.fn)


def name_of(var):
    return var if isinstance(var, str) else var.name


def is_phi(statement):
    return isinstance(statement, ir.Assign) and is_expr(statement.value, "phi")


def is_expr(value, *ops):
    return isinstance(value, ir.Expr) and value.op in ops


def successors(block):
    return block.terminator.get_targets()


def may_follow(blocks, first, then, barring):
    """Whether a statement may be run after another, without a third in between but at the very end.

    Statements are given as `(label, number)`, with numbers that grow within a block.
    """
    pending, seen = [first], set()
    while pending:
        label, start = pending.pop()
        barred = barring[0] == label and barring[1] > start
        if then[0] == label and start < then[1] and not (barred and then[1] > barring[1]):
            return True
        for other in () if barred else successors(blocks[label]):
            if other not in seen:
                seen.add(other)
                pending.append((other, -1))
    return False


def map_vars(value, rename):
    """A copy of a node with `rename(var)` in place of every variable read or written."""
    if isinstance(value, ir.Var):
        return rename(value)
    if isinstance(value, ir.Expr):
        fields = {k: map_vars(v, rename) for k, v in value._kws.items()}
        return ir.Expr(value.op, value.loc, **fields)
    if isinstance(value, list):
        return [map_vars(v, rename) for v in value]
    if type(value) is tuple:
        return tuple(map_vars(v, rename) for v in value)
    if isinstance(value, ir.Stmt):
        copy = object.__new__(type(value))
        for k, v in vars(value).items():
            setattr(copy, k, map_vars(v, rename))
        return copy
    return value


def operands(value):
    """The variables that a right-hand side reads."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Expr):
        found = []
        for v in value._kws.values():
            found += _variables(v)
        return found
    return []


def _variables(value):
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, list | tuple):
        return [v for member in value for v in _variables(member)]
    return []


def read_by(statement):
    """The variables that a statement reads."""
    if isinstance(statement, ir.Assign):
        return [v for v in operands(statement.value) if v is not ir.UNDEFINED]
    return list(statement.list_vars())


def times_read(fn, var):
    """How many statements read a variable."""
    return sum(
        any(v.name == var.name for v in s.list_vars())
        for _, s in fn.statements()
        if not (isinstance(s, ir.Assign) and s.target.name == var.name)
    )


def accessed(statement):
    """`(access, base)` of a statement that reads or writes by an index; None for another."""
    access = statement.value if isinstance(statement, ir.Assign) else statement
    if is_expr(access, "getitem", "static_getitem"):
        return access, access.value
    if isinstance(access, ir.SetItem | ir.StaticSetItem):
        return access, access.target
    return None


_TABLES = "chains", "recursive", "names", "sites", "written"


def duplicate(fn):
    """A copy of a function whose statements can be changed."""
    blocks, calls = {}, dict(fn.calls)
    for label, block in fn.blocks.items():
        new = blocks[label] = ir.Block(block.scope, block.loc)
        for s in block.body:
            own = map_vars(s, lambda var: var)
            value = getattr(s, "value", None)
            if isinstance(value, ir.Expr) and value in fn.calls:
                calls[own.value] = fn.calls[value]
            if s in fn.calls:
                calls[own] = fn.calls[s]
            new.append(own)
    kept = {"strict": fn.strict, "checked": fn.checked, "tells_nan": fn.tells_nan}
    kept["serial"] = fn.serial  # no name comes twice
    kept |= {name: copy(getattr(fn, name)) for name in _TABLES}
    return Function(fn.name, blocks, dict(fn.types), calls, list(fn.parameters), fn.loc, **kept)

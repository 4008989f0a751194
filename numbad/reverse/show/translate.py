"""From the IR of both sweeps to lines of formulas, one for each thing that is done."""

import re
from dataclasses import dataclass

from numba.core import ir, types

from ...ir.function import is_expr, operands
from . import formula as x
from .formula import Node
from .shown_functions import called_name, is_hidden, is_pure, known_call

_SHARED = re.compile(r"\$c\d+")  # numbers that both sweeps use, whatever they stand for


@dataclass
class Line:
    """What is done: `kind` says how to read `target` and `value`.

    "set" (target = value), "add" (target += value), "do" (value alone), "record" and "reload" (the
    frame `names`), and at the end of a block "branch" (on value), "return" (value), "raise".
    """

    kind: str
    target: Node = None
    value: Node = None
    loc: ir.Loc = None
    names: tuple = ()
    types: tuple = ()  # of what is recorded
    joined: bool = False  # written on the line of the one before
    again: bool = False  # a value of the forward sweep, computed once more
    unread: bool = False  # done for what it changes, not for its value
    mark: str = ""  # of what is recorded apart from the rest
    whole: bool = False  # adds to all elements of an array
    site: tuple = ()  # the places of the calls that it lies in

    def rename(self, merged):
        """Replace variables by what stands for them."""
        for old in {*self.reads, *self.writes} & merged.keys():
            self.put(old, x.name(merged[old]))
        self.names = tuple(merged.get(n, n) for n in self.names)

    def put(self, name, node):
        """Write a formula in place of a variable."""
        if self.value is not None:
            self.value = self.value.put(name, node)
        if self.target is not None:
            self.target = self.target.put(name, node)

    @property
    def is_copy_of_itself(self):
        return self.kind == "set" and self.target == self.value

    @property
    def is_zeroing(self):
        return self.kind == "set" and self.value is x.ZERO

    @property
    def reads(self):
        """The variables whose values it uses, each as often as it does."""
        found = list(self.value.names) if self.value is not None else []
        if self.kind == "record":
            found += self.names
        if self.target is not None and (self.kind == "add" or self.target.op != "name"):
            found += self.target.names
        return found

    @property
    def writes(self):
        """The variables that it gives values."""
        if self.kind == "reload":
            return self.names
        if self.target is not None and self.target.op == "name" and not self.whole:
            return self.target.parts
        return ()

    @property
    def changes_memory(self):
        stores = self.target is not None and self.target.op != "name"
        return stores or self.whole or (self.value is not None and self.value.has_effect)

    @property
    def reads_memory(self):
        nodes = [n for n in (self.target, self.value) if n is not None]
        return any(n.reads_memory or n.has_effect for n in nodes)


class Translator:
    """Translates the blocks; `names` tells what has a name in the source."""

    def __init__(self, blocks, names, type_of, signatures):
        self.names, self.type_of, self.signatures = names, type_of, signatures
        self.definitions, repeated = {}, set()
        for block in blocks.values():
            for s in block.body:
                if isinstance(s, ir.Assign):
                    known = self.definitions.get(s.target.name)
                    if known is not None and str(known) != str(s.value):  # not just run again
                        repeated.add(s.target.name)
                    self.definitions[s.target.name] = s.value
        for name in repeated:
            del self.definitions[name]
        self.blocks = {label: self._block(block) for label, block in blocks.items()}

    def _block(self, block):
        self.lines, self._frames, self._parts = [], {}, {}
        self._body = block.body
        for s in block.body:
            self.loc = s.loc
            self._statement(s)
        return self.lines

    def add(self, kind, target=None, value=None, **more):
        line = Line(kind, target, value, self.loc, **more)
        line.again = any(map(self.names.is_recomputed, line.writes))
        self.lines.append(line)

    # -- statements --------------------------------------------------------------------------

    def _statement(self, s):
        if isinstance(s, ir.Assign):
            self._assign(s.target, s.value)
        elif isinstance(s, ir.SetItem | ir.StaticSetItem):
            index = self.index(s)
            self.add("set", Node("index", (self.node(s.target), index)), self.node(s.value))
        elif isinstance(s, ir.SetAttr):
            self.add("set", Node("attr", (self.node(s.target), s.attr)), self.node(s.value))
        elif isinstance(s, ir.Branch):
            self.add("branch", value=self.node(s.cond))
        elif isinstance(s, ir.Return):
            self.add("return", value=self.node(s.value))
        elif isinstance(s, ir.StaticRaise | ir.DynamicRaise):
            self.add("raise", value=self._raised(s))
        elif isinstance(s, ir.Print):
            self.add("do", value=x.call("print", map(self.node, s.args), effect=True))
        elif not isinstance(s, ir.Del | ir.Jump):
            self.add("do", value=Node("text", (str(s),), True))

    def _raised(self, s):
        given = ", ".join(map(repr, s.exc_args or ()))
        return x.text(f"{getattr(s.exc_class, '__name__', s.exc_class)}({given})")

    def _assign(self, target, value):
        name = target.name
        if is_hidden(name) or self._is_literal(name):
            return
        if is_expr(value, "static_getitem") and self._is_part(name, value):
            return
        if is_expr(value, "call"):
            self._call(target, value)
            return
        if is_expr(value, "binop") and self._adds_to_itself(target, value):
            return
        node = self.expr(value)
        if node is not None:
            zero = node.op == "text" and node.parts[0] in ("-0.0", "(-0-0j)")
            self.add("set", x.name(name), x.ZERO if zero else node)

    def _is_part(self, name, value):
        """A value of a reloaded frame, or of what gives several values at once."""
        source = value.value.name
        if source in self._frames:
            line = self._frames[source]
            line.names = (*line.names, name)
            return True
        if source in self._parts:
            self.add("set", x.name(name), self._parts[source][value.index])
            return True
        return False

    def _adds_to_itself(self, target, value):
        """`x = x + y`."""
        if not isinstance(value.lhs, ir.Var) or value.lhs.name != target.name:
            return False
        symbol = x.SYMBOLS.get(value.fn)
        if symbol not in ("+", "-"):
            return False
        added = self.node(value.rhs)
        self.add("add", x.name(target.name), added if symbol == "+" else x.unary("-", added))
        return True

    def _call(self, target, value):
        function = self.constant(value.func)
        if known_call(self, function, target.name, value):
            return
        self.add("set", x.name(target.name), self.called(value, function))

    # -- what calls that are known put in place ----------------------------------------------

    def record(self, call, arguments):
        signature = self.signatures.get(call)
        types_ = tuple(signature.args[-1]) if signature else ()
        self.add("record", names=tuple(v.name for v in arguments), types=types_)

    def reload(self, target):
        self.add("reload")
        self._frames[target] = self.lines[-1]

    def parts(self, target, nodes):
        self._parts[target] = nodes

    def members(self, var):
        """The members of a tuple that was built for a call."""
        built = self.definitions.get(var.name)
        if is_expr(built, "build_tuple"):
            return [self.node(v) for v in built.items]
        return None

    # -- expressions -------------------------------------------------------------------------

    def constant(self, var):
        """The object behind a variable: a literal, a global, an attribute of a module."""
        value = self.definitions.get(var.name)
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return value.value
        if is_expr(value, "getattr"):
            owner = self.constant(value.value)
            return None if owner is None else getattr(owner, value.attr, None)
        return None

    def _is_literal(self, name):
        """Whether a variable is a literal or a global, which is written in its place."""
        value = self.definitions.get(name)
        if isinstance(value, ir.Const):
            return self.names.is_plain(name) or _SHARED.fullmatch(name) is not None
        if isinstance(value, ir.Global | ir.FreeVar):
            return True
        return is_expr(value, "getattr") and self.constant(value.value) is not None

    def node(self, var):
        if not isinstance(var, ir.Var):
            return x.text(str(var))
        if self._is_literal(var.name):
            return self.expr(self.definitions[var.name])
        return x.name(var.name)

    def expr(self, value):
        """The formula of a right-hand side."""
        if isinstance(value, ir.Var):
            return self.node(value)
        if isinstance(value, ir.Const):
            return x.text(repr(value.value))
        if isinstance(value, ir.Global | ir.FreeVar):
            return x.text(_global_name(value))
        if isinstance(value, ir.Arg):
            return x.text(value.name)
        write = getattr(self, f"_expr_{value.op}", None) if isinstance(value, ir.Expr) else None
        return write(value) if write else Node("text", (str(value),), True)

    def _expr_binop(self, e):
        symbol = x.SYMBOLS.get(e.fn)
        operands = self.node(e.lhs), self.node(e.rhs)
        if e.rhs.name.startswith("$c") and operands[1] == x.text("0.0") and symbol == "+":
            return operands[0]  # so that no adjoint comes out as -0.0
        if _SHARED.fullmatch(e.rhs.name) and operands[1] == x.text("1") and symbol == "*":
            return operands[0]
        return x.binary(symbol, *operands) if symbol else x.call(called_name(e.fn), operands)

    def _expr_inplace_binop(self, e):
        changes = isinstance(self.type_of(e.lhs.name), types.Array | types.List)
        node = self._expr_binop(e)
        return Node(node.op, node.parts, effect=changes)

    def _expr_unary(self, e):
        sign = x.SIGNS.get(e.fn, f"{e.fn} " if e.fn == "not" else e.fn)
        return x.unary(sign, self.node(e.value))

    def _expr_getattr(self, e):
        return Node("attr", (self.node(e.value), e.attr))

    def _expr_getitem(self, e):
        return Node("index", (self.node(e.value), self.index(e)))

    _expr_static_getitem = _expr_typed_getitem = _expr_getitem

    def index(self, access):
        """The index of an access to an element."""
        index = getattr(access, "index", None)
        if isinstance(index, ir.Var):
            return self.node(index)
        known = getattr(access, "index_var", None)
        unknown = index is None and known is not None
        if unknown and not isinstance(self.type_of(known.name), types.NoneType):
            return self.node(known)
        if isinstance(index, slice):
            return _slice([x.text(repr(k)) for k in (index.start, index.stop, index.step)])
        return x.text(repr(index))

    def _expr_build_tuple(self, e):
        return Node("tuple", tuple(map(self.node, e.items)))

    def _expr_build_list(self, e):
        return Node("list", tuple(map(self.node, e.items)), effect=True)

    def _expr_cast(self, e):
        return self.node(e.value)

    _expr_exhaust_iter = _expr_cast

    def _expr_getiter(self, e):
        return x.call("iter", [self.node(e.value)])

    def _expr_iternext(self, e):
        """The `over` of `for i in over`."""
        over = self.definitions.get(e.value.name)
        if not is_expr(over, "getiter"):
            return x.call("next", [self.node(e.value)])
        made = self.definitions.get(over.value.name)
        simple = is_expr(made, "call") and self.constant(made.func) is range
        if not simple:
            return x.call("next", [self.node(over.value)])
        return x.call("next", [x.call("range", map(self._whole, made.args))])

    def _whole(self, var):
        """A variable with formulas in place of the temporaries that it is made of."""
        value = self.definitions.get(var.name)
        known = is_expr(value, "binop", "unary", "getattr", "static_getitem", "cast")
        if not known or not self.names.is_plain(var.name):
            return self.node(var)
        node = self.expr(value)
        for operand in operands(value):
            node = node.put(operand.name, self._whole(operand))
        return node

    def _expr_pair_first(self, e):
        return x.call("first", [self._next(e.value)])

    def _expr_pair_second(self, e):
        return x.call("more", [self._next(e.value)])

    def _next(self, pair):
        made = self.definitions.get(pair.name)
        return self.expr(made) if is_expr(made, "iternext") else self.node(pair)

    def called(self, e, function):
        """The formula of a call."""
        given = [self.node(v) for v in e.args if not is_hidden(v.name)]
        if function is slice:
            return _slice(given)
        if function is bool:
            return given[0]
        given += [Node("keyword", (key, self.node(v))) for key, v in e.kws]
        if e.vararg is not None:
            given.append(x.unary("*", self.node(e.vararg)))
        named = x.text(called_name(function)) if e.func.name.startswith("$g") else self.node(e.func)
        return Node("call", (named, *given), effect=not is_pure(function))


def _slice(ends):
    ends = [x.NONE, *ends] if len(ends) == 1 else ends
    return Node("slice", tuple(ends[:2] if ends[2:] == [x.NONE] else ends))


def _global_name(value):
    simple = isinstance(value.value, bool | int | float | complex | str) and value.name.startswith(
        "$"
    )
    return repr(value.value) if simple else value.name

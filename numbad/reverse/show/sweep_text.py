"""The text of a sweep: pseudo-Python, with the source line above what comes from it."""

from . import formula as x
from .control_flow import Go, If, ShownBlock, ShownLoop
from .head import bytes_of
from .indices import is_index, range_of
from .skips import asks_for_adjoints

INDENT = "    "


class Layout:
    """Writes the items of a structured graph; `lines` are the lines of each block."""

    def __init__(self, lines, targets, edges, names, source, ways):
        self.lines, self.targets, self.edges, self.names = lines, targets, edges, names
        self.headed = True
        self.source, self.ways = source, ways
        self.conditions, self.ranges, self.turns = {}, {}, set()
        self.out, self.depth, self.place = [], 1, None

    def write(self, items):
        self._items(items)
        return self.out

    # -- plain lines -------------------------------------------------------------------------

    def _emit(self, text, line=None):
        """Add a line; above it its source line, where another one than before is meant."""
        where = None if line is None else self.source.where(line)
        if where is not None and where != self.place:
            self.place, code = where, self.source.code(line.loc)
            if text == code:
                text += f"    # {where}"
            elif code:
                self.out.append(f"{INDENT * self.depth}# {where}  {code}")
        self.out.append(INDENT * self.depth + text)

    def show(self, node):
        return x.write(node, self.names.show)

    def _line(self, line):
        text = getattr(self, f"_write_{line.kind}")(line)
        if text is None:
            return
        if line.joined:
            self.out[-1] += f"; {text}"
        else:
            self._emit(text, line if self.headed and line.kind != "return" else None)

    def _write_set(self, line):
        target = self.show(line.target)
        if line.unread:
            return self.show(line.value)
        again = "    # recomputed" if line.again else ""
        value = line.value
        if (
            line.target.op != "name"
            and value.op == "binary"
            and value.parts[:2] == ("+", line.target)
        ):
            return f"{target} += {self.show(value.parts[2])}"
        text = f"{target} = {self.show(value)}"
        return None if target == self.show(line.value) else text + again

    def _write_add(self, line):
        sign, value, positive = "+", line.value, x.negated(line.value)
        if positive is not None:
            sign, value = "-", positive
        return f"{self.show(line.target)} {sign}= {self.show(value)}"

    def _write_do(self, line):
        return self.show(line.value)

    def _write_record(self, line):
        return f"record{line.mark} {self._frame(line)}    # {bytes_of(line.types)} bytes"

    def _write_reload(self, line):
        return f"reload{line.mark} {self._frame(line)}"

    def _frame(self, line):
        return ", ".join(map(self.names.show, line.names))

    def _write_return(self, line):
        return f"return {self.show(line.value)}"

    def _write_raise(self, line):
        return f"raise {self.show(line.value)}"

    # -- structure ---------------------------------------------------------------------------

    def _items(self, items):
        for item in items:
            _WRITERS[type(item)](self, item)

    def _inner(self, items):
        self.depth += 1
        before = len(self.out)
        self._items(items)
        if len(self.out) == before:
            self._emit("pass")
        self.depth -= 1

    def _block(self, item):
        if item.label in self.targets:
            self._emit(f"label L{item.label}:")
        self.headed = item.label not in self.edges
        if item.label in self.turns:
            self.place = None
            self._emit("# the iteration backward")
        for line in self.lines[item.label]:
            if line.kind != "branch":
                self._line(line)

    def _branch(self, label):
        """The line with the condition at the end of a block."""
        return next(line for line in self.lines[label] if line.kind == "branch")

    def _if(self, item, word="if"):
        line = self._branch(item.label)
        then, otherwise, condition = item.then, item.otherwise, line.value
        if self._is_nothing(then):
            then, otherwise, condition = otherwise, [], _negated(condition)
        if self._is_nothing(then):
            return
        turned = condition is not line.value
        if _is_break(otherwise) or self._goes_first(otherwise, then):
            then, otherwise, condition, turned = otherwise, then, _negated(condition), not turned
        origin = self._came_from(item.label, line, turned)
        placed = None if origin or item.label in self.edges else line
        self._emit(f"{word} {self.show(condition)}:{origin}", placed)
        self._inner(then)
        self._otherwise(then, otherwise, word)

    def _otherwise(self, then, otherwise, word):
        if self._is_nothing(otherwise):
            return
        if self._leaves(then) and word == "if":
            self._items(otherwise)
            return
        first, *rest = [item for item in otherwise if not self._is_empty(item)]
        if isinstance(first, ShownBlock) and rest and self._only_asks(first.label):
            first, *rest = rest
        if isinstance(first, If) and not rest:
            self._if(first, "elif")
            return
        self._emit("else:")
        self._inner(otherwise)

    def _only_asks(self, label):
        return label not in self.targets and len(self.lines[label]) == 1 and self._asks(label)

    def _asks(self, label):
        return any(line.kind == "branch" for line in self.lines[label])

    def _came_from(self, label, line, turned):
        """Which way into a block a branch of the reverse sweep asks for."""
        if label in self.conditions:
            return f"    # came from line {self.conditions[label][turned]}"
        if asks_for_adjoints(line.value, self.names):
            return "    # else the loop adds nothing" if turned else ""
        if line.value.op != "binary" or line.value.parts[1].op != "name":
            return ""
        name, number = line.value.parts[1].parts[0], line.value.parts[2]
        if name not in self.ways or number.op != "text":
            return ""
        ways, number = self.ways[name], int(number.parts[0])
        others = [way for k, way in enumerate(ways) if (k == number) != turned]
        return f"    # came from line {others[0]}" if len(others) == 1 else ""

    def _is_nothing(self, items):
        """Whether items put nothing into the text."""
        return all(self._is_empty(item) for item in items)

    def _goes_first(self, items, others):
        """Whether a branch that ends by going elsewhere is shorter than the other one."""
        shorter = len([*_labels(items)]) < len([*_labels(others)])
        return self._leaves(items) and (shorter or not self._leaves(others))

    def _leaves(self, items):
        """Whether what follows items is never reached from them."""
        if not items or isinstance(items[-1], Go):
            return bool(items)
        ends = isinstance(items[-1], ShownBlock) and self.lines[items[-1].label][-1:]
        return bool(ends) and ends[0].kind in ("raise", "return")

    def _is_empty(self, item):
        if isinstance(item, ShownBlock):
            return item.label not in self.targets and not self.lines[item.label]
        return (
            isinstance(item, If)
            and self._is_nothing(item.then)
            and self._is_nothing(item.otherwise)
        )

    def _loop(self, item):
        body, test = item.body, self._test(item.body)
        over = next((self.ranges[n] for n in _labels(body, False) if n in self.ranges), None)
        opening, otherwise, line = "while True:", [], None
        if test is not None:
            head = self._for(body, test) or self._while(body, test, over)
            if head:
                opening, body, otherwise = head
                line = self._branch(test.label)
        if over is not None and not opening.startswith("for "):
            self._line(over)
        self._emit(opening, line)
        self._inner(body)
        if otherwise and isinstance(otherwise[-1], Go) and otherwise[-1].kind == "break":
            otherwise = otherwise[:-1]
        if not self._is_nothing(otherwise):
            self._emit("else:")
            self._inner(otherwise)

    def _test(self, body):
        """The branch that a loop begins with, if it does."""
        for k, item in enumerate(body):
            if isinstance(item, If):
                return item if self._is_nothing(body[: k - 1]) else None
            if not isinstance(item, ShownBlock) or item.label in self.targets:
                return None
        return None

    def _for(self, body, test):
        """`for i in over:` where the header asks an iterator for the next value."""
        line = self._branch(test.label)
        if line.value.op != "call" or line.value.parts[0] != x.text("more"):
            return None
        index, rest = "_", []
        for other in self.lines[test.label]:
            if (
                other.kind == "set"
                and other.value.op == "call"
                and other.value.parts[0] == x.text("first")
            ):
                index = self.show(other.target)
            elif other.kind != "branch":
                rest.append(other)
        if rest:
            return None
        over = line.value.parts[1].parts[1]
        rest = body[body.index(test) + 1 :]
        return f"for {index} in {self.show(over)}:", [*test.then, *rest], test.otherwise

    def _while(self, body, test, over):
        """`while condition:` where the header does nothing but ask."""
        line, rest = self._branch(test.label), body[body.index(test) + 1 :]
        if len(self.lines[test.label]) > 1:
            return None
        if _is_break(test.otherwise):
            condition, inner = line.value, test.then
        elif _is_break(test.then):
            condition, inner = _negated(line.value), test.otherwise
        else:
            return None
        body = [*inner, *rest]
        opening = self._backward(condition, body, over) or f"while {self.show(condition)}:"
        return opening, body, []

    def _backward(self, condition, body, known):
        """`for i in reversed(range(count)):` where the counter is used for nothing but the index;
        `known` is the line that counts the range, where it is known."""
        if condition.op != "binary" or condition.parts[1].op != "name" or not body:
            return None
        if self.targets & set(_labels(body)):
            return None
        count = condition.parts[1]
        first = self.lines[body[0].label] if isinstance(body[0], ShownBlock) else []
        down = [line for line in first if line.kind == "add" and line.target == count]
        index = [line for line in first if is_index(line, count.parts[0], known)]
        reads = sum(
            line.reads.count(count.parts[0]) for n in _labels(body) for line in self.lines[n]
        )
        if len(down) != 1 or len(index) > 1 or reads != 1 + len(index):
            return None
        self.lines[body[0].label] = [line for line in first if line not in (*down, *index)]
        over = self.show(x.call("range", [count]) if known is None else range_of(known))
        if not index:
            return f"for _ in {over}:"
        return f"for {self.show(index[0].target)} in reversed({over}):"

    def _go(self, item):
        self._emit(f"go to L{item.target}" if item.kind == "goto" else item.kind)


def _labels(items, loops=True):
    """The labels of all blocks in items, or of those outside of loops."""
    for item in items:
        if isinstance(item, ShownBlock):
            yield item.label
        elif isinstance(item, If):
            yield from _labels([*item.then, *item.otherwise], loops)
        elif isinstance(item, ShownLoop) and loops:
            yield from _labels(item.body)


def _is_break(items):
    return len(items) == 1 and isinstance(items[0], Go) and items[0].kind == "break"


_OPPOSITE = {"==": "!=", "!=": "=="}


def _negated(condition):
    if condition.op == "unary" and condition.parts[0] == "not ":
        return condition.parts[1]
    if condition.op == "binary" and condition.parts[0] == "and":
        return x.binary("or", *map(_negated, condition.nodes))
    if condition.op == "binary" and condition.parts[0] in ("==", "!="):
        symbol, *sides = condition.parts
        return x.binary(_OPPOSITE[symbol], *sides)
    if _asks_for_more(condition):
        return x.binary("==", *condition.parts[1:])
    return x.unary("not ", condition)


def _asks_for_more(condition):
    """Whether a condition is that a counter, which is never negative, is not zero."""
    if condition.op != "binary" or condition.parts[0] != ">":
        return False
    counted, limit = condition.parts[1:]
    named = counted.op == "name" and counted.parts[0].startswith("$count")
    return named and limit == x.text("0")


_WRITERS = {ShownBlock: Layout._block, If: Layout._if, ShownLoop: Layout._loop, Go: Layout._go}

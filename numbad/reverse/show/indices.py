"""Loops over a `range` as such in the reverse sweep: `for i in reversed(range(n))`."""

from ...ir.function import successors
from ..names import counter
from . import formula as x
from .shown_functions import range_call
from .translate import Line


def name_indices(lines, sweep, names):
    """In loops run backward whose counter tells the index, say so and use the index's name."""
    for header in sweep.tables:
        _drop_row_numbers(lines, counter(header))
    for index, (loop, start, step) in sweep.plan.indices.items():
        if index not in sweep.plan.stops or loop.header in sweep.selected:
            continue  # an integer that each iteration adds to; or the number of one is kept
        count = counter(loop.header)
        known = _start_and_step(lines, count) if loop.header in sweep.counted else None
        if known is None and step is None and (start is None or sweep.fn.constant(start) == 0):
            known = x.text("0"), x.text("1")
        if known and names.in_source(index) and _left_by_its_header(sweep.fn, loop):
            _name_index(lines, count, index, names, *known)


def _drop_row_numbers(lines, count):
    """In the forward sweep, numbers of what is recorded are left out, as the tape's other details."""
    for label, found in lines.items():
        lines[label] = [line for line in found if not _counts_up(line, count)]


def _counts_up(line, count):
    start = line.kind == "set" and line.value == x.text("0")
    return line.target == x.name(count) and (start or line.value == x.text("1"))


def _start_and_step(lines, count):
    """Of the range that a loop is known to run over."""
    values = [*_values(lines, count)]
    values += [v for value in values if value.op == "name" for v in _values(lines, value.parts[0])]
    return next((range_parts(v)[::2] for v in values if is_length_of_range(v)), None)


def _values(lines, name):
    """What a variable is set to."""
    return (o.value for found in lines.values() for o in found if name in o.writes and o.value)


def is_length_of_range(node):
    return node.op == "call" and node.parts[0] == x.text("len") and _is_range(node.parts[1])


def _is_range(node):
    return node.op == "call" and node.parts[0] == x.text("range")


def range_parts(length):
    """Start, stop and step in `len(range(...))`."""
    given = length.parts[1].parts[1:]
    if len(given) == 1:
        return x.text("0"), *given, x.text("1")
    return (*given, x.text("1"))[:3]


def _left_by_its_header(fn, loop):
    """Whether each iteration that begins is finished, so that going back begins with a whole one."""
    chain, label = [], loop.header
    while label in loop.body and label not in chain:
        chain.append(label)
        label = successors(fn.blocks[label])[0] if len(successors(fn.blocks[label])) == 1 else None
    leaving = {n for n in loop.body if any(m not in loop.body for m in successors(fn.blocks[n]))}
    return leaving <= set(chain)


def _name_index(lines, count, index, names, start, step):
    own, value = f"$index of {count}", _index(count, start, step)
    number = _number(x.name(own), start, step)
    known = {name for name, notes in names.notes.items() if ("value", index) in notes} - {count}
    names.notes[own] = [("value", index)]
    for label, found in lines.items():
        lines[label] = [
            line for line in found if not (line.kind == "set" and known & {*line.writes})
        ]
        for line in lines[label]:
            line.rename(dict.fromkeys(known, own))
            if count in line.reads and not _is_bookkeeping(line, count):
                line.put(count, number)
    _insert(lines, count, Line("set", x.name(own), value))


def _index(count, start, step):
    """The index of a range where a counter of whole iterations stands."""
    value = x.name(count) if step == x.text("1") else x.binary("*", step, x.name(count))
    return value if start == x.text("0") else x.binary("+", start, value)


def _number(index, start, step):
    """How many iterations come before that of an index."""
    before = index if start == x.text("0") else x.binary("-", index, start)
    return before if step == x.text("1") else x.binary("//", before, step)


def is_index(line, count, known):
    """Whether a line sets the index of a loop that is run backward; `known` counts its range."""
    start, _, step = range_parts(known.value) if known else (x.text("0"), None, x.text("1"))
    return line.kind == "set" and line.value == _index(count, start, step)


def _insert(lines, count, made):
    for found in lines.values():
        for k, line in enumerate(found):
            if line.kind == "add" and line.target == x.name(count) and x.is_negative(line.value):
                made.loc = line.loc
                found.insert(k + 1, made)
                return


def _is_bookkeeping(line, count):
    if line.kind in ("record", "branch"):
        return True
    asks = line.value == x.binary(">", x.name(count), x.text("0"))
    return asks or line.target == x.name(count)


# -- the ranges themselves -----------------------------------------------------------------------


def take_ranges(lines, successors, sweep, names):
    """Take the counts of loops over known ranges out of the lines: reverse of the header -> line."""
    found = {}
    for header in sweep.counted:
        places = [
            (label, line)
            for label, some in lines.items()
            for line in some
            if counter(header) in line.writes and line.kind == "set"
        ]
        inner = sweep.reverse_labels[header]
        if len(places) != 1 or not is_length_of_range(places[0][1].value):
            continue
        label, line = places[0]
        if _lasts(line, lines, successors, label, inner):
            for made in reversed(lines[label]):
                _inline(made, lines, successors, label, line, inner, names)
            lines[label] = [other for other in lines[label] if other is not line]
            found[inner] = line
    return found


def _inline(made, lines, successors, label, line, header, names):
    """Put the formula of a temporary that a range is made of into the range and its loop."""
    if made.kind != "set" or not made.writes or made.value.reads_memory or made.value.has_effect:
        return
    (name,) = made.writes
    ends = {label, header}
    inside = [line, *(o for n in _in_loop(successors, header, ends) for o in lines[n])]
    users = [o for o in inside if name in o.reads and o.kind != "record"]
    every = [o for some in lines.values() for o in some]
    alone = sum(name in o.reads for o in every) == len(users)
    if name not in line.reads or not alone or not names.is_plain(name):
        return
    if _lasts(made, lines, successors, label, header):
        for user in users:
            user.put(name, made.value)
        lines[label] = [o for o in lines[label] if o is not made]


def _in_loop(successors, header, ends):
    return _between(successors, header, header, ends) | {header}


def _lasts(line, lines, successors, label, header):
    """Whether what a line reads is the same in the loop that follows it."""
    rest = lines[label]
    rest = rest[next(k for k, other in enumerate(rest) if other is line) + 1 :]
    ends = {label, header}
    blocks = _between(successors, label, header, ends) | _in_loop(successors, header, ends)
    after = [*rest, *(o for n in blocks for o in lines[n])]
    return not any({*line.reads} & {*other.writes} for other in after)


def _between(successors, start, end, ends):
    """The blocks on the ways from a block to another that do not come by any of `ends`."""
    before = {n: [] for n in successors}
    for n, out in successors.items():
        for m in out:
            before[m].append(n)
    return _reached(successors, start, ends) & _reached(before, end, ends) - ends


def _reached(edges, start, ends):
    seen, pending = set(), [start]
    while pending:
        for n in edges[pending.pop()]:
            if n not in seen:
                seen.add(n)
                pending += [] if n in ends else [n]
    return seen


def range_of(line):
    """`range(...)` of a line that counts it."""
    return range_call(*range_parts(line.value))

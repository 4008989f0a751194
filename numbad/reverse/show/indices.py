"""The index of a `range` loop by its own name in the reverse sweep, where it is the counter."""

from ...ir.function import successors
from ..names import counter
from . import expression as x
from .translate import Line


def name_indices(lines, sweep, names):
    """In loops run backward whose counter is the index, say so and use the index's name."""
    for index, (loop, start, step) in sweep.plan.indices.items():
        plain = step is None and (start is None or sweep.fn.constant(start) == 0)
        if plain and names.in_source(index) and _left_by_its_header(sweep.fn, loop):
            _name_index(lines, counter(loop.header), index, names)


def _left_by_its_header(fn, loop):
    """Whether each iteration that begins is finished, so that going back begins with a whole one."""
    chain, label = [], loop.header
    while label in loop.body and label not in chain:
        chain.append(label)
        label = successors(fn.blocks[label])[0] if len(successors(fn.blocks[label])) == 1 else None
    leaving = {n for n in loop.body if any(m not in loop.body for m in successors(fn.blocks[n]))}
    return leaving <= set(chain)


def _name_index(lines, count, index, names):
    own = f"$index of {count}"
    names.notes[own] = [("value", index)]
    for found in lines.values():
        for k, line in enumerate(found):
            if line.kind == "add" and line.target == x.name(count) and x.is_negative(line.value):
                made = Line("set", x.name(own), x.name(count), line.loc)
                found.insert(k + 1, made)
                break
    for found in lines.values():
        for line in found:
            if count in line.reads and not _is_bookkeeping(line, count):
                line.rename({count: own})


def _is_bookkeeping(line, count):
    if line.kind in ("record", "branch"):
        return True
    asks = line.value == x.binary(">", x.name(count), x.text("0"))
    return asks or line.target == x.name(count) or line.value == x.name(count)

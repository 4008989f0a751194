"""One name for values of one source variable that are never needed at the same time.

Numba gives each assignment a name of its own. Where a copy joins two of them and neither is read
after the other is set, they are one variable again. Adjoints likewise, once it is known where they
are zero: `x_bar.2 += x_bar.1` is a copy there, as -0.0 + x is x.
"""

from collections import defaultdict

from . import formula as x
from .control_flow import reverse_postorder


def set_where_zero(blocks, successors, entry, adjoints):
    """`x_bar += y` becomes `x_bar = y` where `x_bar` is known to be zero."""
    before = _zero_before(blocks, successors, entry, adjoints)
    for label, lines in blocks.items():
        zero = set(before.get(label, ()))
        for line in lines:
            if line.kind == "add" and line.target.op == "name" and not line.whole:
                (name,) = line.target.parts
                if name in zero and name not in line.value.names:
                    line.kind = "set"
            _step(line, zero)


def _zero_before(blocks, successors, entry, adjoints):
    """The adjoints that are zero at the start of each block that is reached."""
    before = {entry: set()}
    order = reverse_postorder(successors, entry)
    changed = True
    while changed:
        changed = False
        for label in order:
            zero = set(before[label])
            for line in blocks[label]:
                _step(line, zero)
            zero &= adjoints
            for m in successors[label]:
                known = zero | _zero_if(blocks[label], m == successors[label][0]) & adjoints
                met = known if m not in before else before[m] & known
                if before.get(m) != met:
                    before[m], changed = set(met), True
    return before


def _zero_if(lines, holds):
    """The variables that the condition at the end of a block says are zero, where it holds."""
    value = lines[-1].value if holds and lines and lines[-1].kind == "branch" else None
    for line in lines[:-1]:
        value = line.value if value is not None and value == line.target else value
    asked = value is not None and value.op == "binary" and value.parts[0] == "=="
    if asked and value.parts[1].op == "name" and value.parts[2] == x.text("0.0"):
        return {value.parts[1].parts[0]}
    return set()


def _step(line, zero):
    zero.difference_update(line.writes)
    if line.is_zeroing:
        zero.update(line.writes)


def coalesce(blocks, live_after, base, doubles=()):
    """name -> the name that stands for it; `base(name)` is the source's variable, or None.

    `doubles` are pairs of variables that hold the same value.
    """
    used = {n for lines in blocks.values() for line in lines for n in (*line.reads, *line.writes)}
    pairs = [*_copies(blocks, base), *(p for p in doubles if p[0] in used), *_alike(used, base)]
    apart = _interference(blocks, live_after, base)
    groups = {}
    for target, source in pairs:
        a, b = groups.setdefault(target, {target}), groups.setdefault(source, {source})
        if a is b or any(apart[n] & b for n in a):
            continue
        a |= b
        for n in b:
            groups[n] = a
    return {n: min(group, key=_age) for n, group in groups.items() if len(group) > 1}


def _alike(names, base):
    """Pairs of values of the same variable."""
    first = {}
    for name in sorted(names, key=_age):
        if base(name) is not None:
            first.setdefault(base(name), []).append(name)
    return [(a, b) for group in first.values() for k, a in enumerate(group) for b in group[k + 1 :]]


def _age(name):
    return len(name), name


def _copies(blocks, base):
    found = {}
    for lines in blocks.values():
        for line in lines:
            if line.kind == "set" and line.writes and line.value.op == "name":
                pair = line.writes[0], line.value.parts[0]
                if base(pair[0]) is not None and base(pair[0]) == base(pair[1]):
                    found[pair] = None
    return list(found)


def _interference(blocks, live_after, base):
    """name -> names of the same variable that hold another value while it does."""
    apart = defaultdict(set)
    for label, lines in blocks.items():
        live = defaultdict(set)
        for name in live_after[label]:
            live[base(name)].add(name)
        for line in reversed(lines):
            for name in line.writes:
                _set_apart(name, line, live[base(name)], apart)
            if line.kind != "add":
                for name in line.writes:
                    live[base(name)].discard(name)
            for name in line.reads:
                live[base(name)].add(name)
    return apart


def _set_apart(name, line, live, apart):
    copied = line.value.parts[0] if line.kind == "set" and line.value.op == "name" else None
    for other in live - {name, copied}:
        apart[name].add(other)
        apart[other].add(name)
    if line.kind == "reload":
        for other in line.names:
            if other != name and other in live:
                apart[name].add(other)

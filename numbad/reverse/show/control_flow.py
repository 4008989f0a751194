"""The structure of a control flow graph: loops, branches, and the few jumps that are left.

The tree of dominators tells what lies within what, as in Ramsey, "Beyond Relooper" (ICFP 2022,
doi:10.1145/3547621). A loop with several ways in, as the reverse of a loop with `break` is, keeps one
of them; the others become jumps.
"""

from dataclasses import dataclass, field


@dataclass
class ShownBlock:
    """The statements of one block."""

    label: int


@dataclass
class If:
    """The branch at the end of a block."""

    label: int
    then: list
    otherwise: list


@dataclass
class ShownLoop:
    """What is repeated until it is left."""

    header: int
    body: list
    left: list = field(default_factory=list)  # labels after it: what `break` goes to is the first


@dataclass
class Go:
    """A jump: "break", "continue", or "goto" to a label."""

    kind: str
    target: int


class Structure:
    """Makes the tree of items that a graph consists of; every block appears in it once.

    `successors` maps labels to lists of labels; `headers` are those that a loop with several ways in
    should be entered by.
    """

    def __init__(self, successors, entry, headers):
        self.entry, self.headers = entry, set(headers)
        self.successors = {n: list(successors[n]) for n in _reachable(successors, entry)}
        self.jumps, self.back = set(), set()
        self.loops = {}  # header -> the blocks of its loop
        self._cut(set(self.successors), entry)
        forward = {
            n: [m for m in out if (n, m) not in self.jumps and (n, m) not in self.back]
            for n, out in self.successors.items()
        }
        self.order = {n: k for k, n in enumerate(reverse_postorder(forward, entry))}
        self.before = {n: [] for n in self.successors}
        for n, out in forward.items():
            for m in out:
                self.before[m].append(n)
        self._find_loops()
        self._dominate()
        self.targets = set()

    def run(self):
        """The items, in order, and the labels that jumps go to."""
        return self._tree(self.entry, None, None), self.targets

    # -- analyses ----------------------------------------------------------------------------

    def _cut(self, nodes, entry):
        """Mark the edges back to headers, and those into loops other than by their headers."""
        ahead = {n: [m for m in self.successors[n] if self._kept(n, m, nodes)] for n in nodes}
        for component in _components(ahead):
            if len(component) == 1 and not any(n in ahead[n] for n in component):
                continue
            ways = [n for n in component if n == entry]
            outside = nodes - component
            ways += [n for n in component if any(n in ahead[p] for p in outside) and n != entry]
            header = self._header(ways)
            for p in outside:
                self.jumps |= {(p, n) for n in ahead[p] if n in component and n != header}
            self.back |= {(p, header) for p in component if header in ahead[p]}
            self.loops[header] = component
            self._cut(component, header)

    def _kept(self, n, m, nodes):
        return m in nodes and (n, m) not in self.jumps and (n, m) not in self.back

    def _header(self, ways):
        wished = [n for n in ways if n in self.headers]
        return (wished or ways)[0]

    def _find_loops(self):
        """The headers of the loops round each block, innermost first."""
        inner_first = sorted(self.loops, key=lambda h: len(self.loops[h]))
        self.around = {n: [h for h in inner_first if n in self.loops[h]] for n in self.successors}

    def _dominate(self):
        """Immediate dominators; then what is put inside of what, and what after which loop."""
        above = {self.entry: self.entry}
        for n in sorted(self.order, key=self.order.get):
            if n != self.entry:
                found = None
                for p in self.before[n]:
                    found = p if found is None else self._meet(above, found, p)
                above[n] = self.entry if found is None else found
        self.below = {n: [] for n in self.order}
        leaving = {}
        for n in sorted(self.order, key=self.order.get):
            if n == self.entry:
                continue
            left = [h for h in self.around[above[n]] if n not in self.loops[h]]
            if left:
                leaving.setdefault(left[-1], []).append(n)
            else:
                self.below[above[n]].append(n)
        self.after = {}
        for header, nodes in leaving.items():
            self._leave(header, nodes, above)

    def _meet(self, above, a, b):
        while a != b:
            if self.order[a] > self.order[b]:
                a = above[a]
            else:
                b = above[b]
        return a

    def _leave(self, header, nodes, above):
        """Which of the ways out of a loop are written after it; the others are written inside."""
        after = [n for n in nodes if len(self.before[n]) > 1]
        if not after:
            after = [max(nodes, key=lambda n: self._size(n, above))]
        self.after[header] = after
        for n in nodes:
            if n not in after:
                self.below[above[n]].append(n)

    def _size(self, node, above):
        """How many blocks a block dominates."""
        count = 0
        for n in above:
            while n not in (node, self.entry):
                n = above[n]
            count += n == node
        return count

    # -- the tree ----------------------------------------------------------------------------

    def _tree(self, n, following, loop):
        """The items of what `n` dominates; `following` is what comes after them in the text."""
        if n not in self.loops:
            return self._within(n, following, loop)
        after = self.after.get(n, [])
        body = self._within(n, n, (n, after[0] if after else following))
        items = [ShownLoop(n, body, after)]
        return items + self._sequence(after, following, loop)

    def _sequence(self, nodes, following, loop):
        items = []
        for k, n in enumerate(nodes):
            items += self._tree(n, nodes[k + 1] if k + 1 < len(nodes) else following, loop)
        return items

    def _within(self, n, following, loop):
        merges = [m for m in self.below[n] if len(self.before[m]) != 1]
        own = {m for m in self.below[n] if len(self.before[m]) == 1}
        then = merges[0] if merges else following
        out = self.successors[n]
        items = [ShownBlock(n)]
        if len(out) == 1:
            items += self._jump(n, out[0], own, then, loop)
        elif len(out) == 2:
            items.append(If(n, *(self._jump(n, m, own, then, loop) for m in out)))
        return items + self._sequence(merges, following, loop)

    def _jump(self, source, target, own, following, loop):
        ahead = (source, target) not in self.jumps and (source, target) not in self.back
        if ahead and target in own:
            return self._tree(target, following, loop)
        if target == following:
            return []
        if loop is not None and target == loop[0]:
            return [Go("continue", target)]
        if loop is not None and target == loop[1]:
            return [Go("break", target)]
        self.targets.add(target)
        return [Go("goto", target)]


def _reachable(successors, entry):
    seen, pending = {entry: None}, [entry]
    while pending:
        for m in successors[pending.pop()]:
            if m not in seen:
                seen[m] = None
                pending.append(m)
    return list(seen)


def reverse_postorder(successors, entry):
    order, seen, stack = [], {entry}, [(entry, iter(reversed(successors[entry])))]
    while stack:
        n, rest = stack[-1]
        for m in rest:
            if m not in seen:
                seen.add(m)
                stack.append((m, iter(reversed(successors[m]))))
                break
        else:
            order.append(n)
            stack.pop()
    return order[::-1]


def _components(successors):
    """The strongly connected components of a graph (Tarjan 1972, doi:10.1137/0201010)."""
    number, low, stack, held, found = {}, {}, [], set(), []
    for root in successors:
        if root in number:
            continue
        work = [(root, iter(successors[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        held.add(root)
        while work:
            n, rest = work[-1]
            m = next(rest, None)
            if m is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[n])
                if low[n] == number[n]:
                    component = set()
                    while not component or n not in component:
                        component.add(stack.pop())
                    held -= component
                    found.append(component)
            elif m not in number:
                number[m] = low[m] = len(number)
                stack.append(m)
                held.add(m)
                work.append((m, iter(successors[m])))
            elif m in held:
                low[n] = min(low[n], number[m])
    return found

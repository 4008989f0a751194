"""Where variables that own references are read last.

What Numba finds (`VariableLifetime`), with a bit for each variable where Numba has sets of names: of a
function of 50,000 blocks these took gigabytes, and minutes.
"""

from functools import cached_property, reduce
from operator import or_

from numba.core.analysis import _dead_maps_result
from numba.core.postproc import VariableLifetime


class Lifetimes(VariableLifetime):
    """Of the variables `names` alone."""

    def __init__(self, blocks, names):
        super().__init__(blocks)
        found = self.usedefs
        self.usedefs = type(found)(
            *({label: used & names for label, used in each.items()} for each in found)
        )
        self._names = sorted(
            set().union(*self.usedefs.usemap.values(), *self.usedefs.defmap.values())
        )
        self._bits = {name: 1 << k for k, name in enumerate(self._names)}
        self._after = {label: [to for to, _ in self.cfg.successors(label)] for label in blocks}

    def _as_bits(self, names):
        return reduce(or_, map(self._bits.get, names), 0)

    def _as_names(self, bits):
        found = set()
        while bits:
            last = bits & -bits
            found.add(self._names[last.bit_length() - 1])
            bits ^= last
        return found

    @cached_property
    def _defined(self):
        return {label: self._as_bits(names) for label, names in self.usedefs.defmap.items()}

    @cached_property
    def _live(self):
        """What is live where each block begins: read there or later, and perhaps set before."""
        order, defined = self.cfg.topo_order(), self._defined
        used = {label: self._as_bits(names) for label, names in self.usedefs.usemap.items()}
        reaching = {label: used[label] | defined[label] for label in order}

        def reach(label):
            for to in self._after[label]:
                reaching[to] |= reaching[label]

        def live_before(label):
            later = reduce(or_, (used[to] for to in self._after[label]), 0)
            used[label] |= later & reaching[label] & ~defined[label]

        _settle(reach, order, reaching)
        _settle(live_before, order[::-1], used)
        return used

    @cached_property
    def deadmaps(self):
        live, defined = self._live, self._defined
        internal, escaping = dict.fromkeys(live, 0), dict.fromkeys(live, 0)
        for label, block in self._blocks.items():
            here = live[label] | defined[label]
            read = {v.name for v in block.terminator.list_vars()} & self._bits.keys()
            kept = reduce(or_, (live[to] for to in self._after[label]), self._as_bits(read))
            internal[label] = here & ~kept
            for to in self._after[label]:
                escaping[to] |= here & kept & ~(live[to] | defined[to])
        internal, escaping = (
            {label: self._as_names(bits) for label, bits in each.items()}
            for each in (internal, escaping)
        )
        both = {label: internal[label] | escaping[label] for label in self._blocks}
        return _dead_maps_result(internal=internal, escaping=escaping, combined=both)


def _settle(step, order, found):
    """Take a step for each block, again and again until nothing that is found changes."""
    before = None
    while before != found:
        before = dict(found)
        for label in order:
            step(label)

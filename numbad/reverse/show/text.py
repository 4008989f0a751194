"""A listing from the stages of a pullback: head, forward sweep, reverse sweep."""

from ..names import choice
from .flow import Structure
from .head import Head
from .indices import name_indices
from .layout import Layout
from .names import Names
from .simplify import simplify
from .source import Source
from .translate import Translator


class Listing:
    """The text for a `Sweep` and for what inference found in its blocks."""

    def __init__(self, sweep, typemap, signatures, argtypes):
        self.sweep, self.argtypes = sweep, argtypes
        self.source = Source(sweep.fn.loc)
        self.names = Names(sweep.fn, sweep.control, sweep.e.notes)
        self.names.give(sweep.result.name, "result")
        blocks = sweep.blocks
        self.lines = Translator(blocks, self.names, typemap.get, signatures).blocks
        self.frames = {
            line.names: line.types
            for lines in self.lines.values()
            for line in lines
            if line.kind == "record"
        }
        self.successors = {label: b.terminator.get_targets() for label, b in blocks.items()}
        self._place_in_calls()
        name_indices(self.lines, sweep, self.names)
        simplify(self.lines, self.successors, 0, self.names)
        self.lines[0] = []  # arguments, and adjoints set to zero

    def _place_in_calls(self):
        """Tell lines of callees' code by which calls they come in."""
        for labels in (self.sweep.forward_labels, self.sweep.reverse_labels):
            for label, own in labels.items():
                for line in self.lines[own]:
                    line.site = self.sweep.fn.sites.get(label, ())

    def text(self):
        """Head, forward sweep, reverse sweep."""
        start = self._entry_of_forward()
        forward = self._part(start, stop=self.sweep.seed_label)
        reverse = self._part(self.sweep.seed_label)
        head = Head(self.sweep, self.names, self.frames, self.source, self.argtypes).write()
        sweeps = ["", "forward sweep", *forward, "", "reverse sweep", *reverse]
        return "\n".join([*head, *sweeps])

    def _entry_of_forward(self):
        return self.sweep.forward_labels[self.sweep.fn.entry]

    def _part(self, entry, stop=None):
        """The lines of one sweep."""
        sweep = self.sweep
        successors, lines = self.successors, self.lines
        if stop is not None:  # where the sweep ends
            successors, lines = {**successors, stop: []}, {**lines, stop: []}
        reverse = sweep.reverse_labels
        headers = [reverse[h] for h in sweep.control.loops if h in reverse]
        kept = Structure(successors, entry, headers).loops.keys() | {stop}
        successors, lines = _without_detours(successors, lines, kept)
        items, targets = Structure(successors, entry, headers).run()
        named = {*sweep.forward_labels.values(), *sweep.reverse_labels.values(), sweep.seed_label}
        edges = set(self.lines) - named
        layout = Layout(lines, targets, edges, self.names, self.source, self._ways())
        return layout.write(items)

    def _ways(self):
        """name of the number of a way -> the lines that the ways come from."""
        control, found = self.sweep.control, {}
        for label, before in control.predecessors.items():
            loop = control.loops.get(label)
            found[choice(label)] = self._last_lines(loop.latches if loop else before)
            found[f"{choice(label)}e"] = self._last_lines(loop.entries if loop else [])
        return found

    def _last_lines(self, labels):
        """The lines of the last statements of blocks, jumps that say nothing left out."""
        blocks = self.sweep.fn.blocks
        return [(blocks[n].body[:-1] or blocks[n].body)[-1].loc.line for n in labels]


def _without_detours(successors, lines, kept):
    """The graph without blocks and branches that do nothing; `kept` are to stay."""
    successors, lines, changed = dict(successors), dict(lines), True
    while changed:
        changed = False
        for n, out in successors.items():
            short = [_next(m, successors, lines, kept) for m in out]
            if len(short) == 2 and short[0] == short[1]:
                del short[1]
                lines[n] = [line for line in lines[n] if line.kind != "branch"]
            if short != out:
                successors[n], changed = short, True
    return successors, lines


def _next(label, successors, lines, kept):
    """The first block from here on that does something, or where a loop begins."""
    while label not in kept and not lines[label] and len(successors[label]) == 1:
        (label,) = successors[label]
    return label

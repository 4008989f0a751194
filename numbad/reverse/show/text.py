"""A listing from the stages of a pullback: head, forward sweep, reverse sweep."""

from ..names import choice
from .control_flow import Structure
from .head import Head
from .indices import name_indices, take_ranges
from .reader_names import Names, at_line
from .simplify import simplify
from .skips import join_questions
from .source_lines import Source
from .sweep_text import Layout
from .translate import Translator


class Listing:
    """The text for a `Sweep` and for what inference found in its blocks."""

    def __init__(self, sweep, typemap, signatures, argtypes):
        self.sweep, self.argtypes = sweep, argtypes
        self.source = Source(sweep.fn.loc)
        self.names = Names(sweep)
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
        self._tell_records_apart()
        self._part_copies()
        name_indices(self.lines, sweep, self.names)
        simplify(self.lines, self.successors, 0, self.names)
        join_questions(self.successors, self.lines, self.names)
        self.lines[0] = []  # arguments, and adjoints set to zero
        self.ranges = take_ranges(self.lines, self.successors, sweep, self.names)

    def _part_copies(self):
        """Give temporaries that several blocks use by themselves, as copies do, names of their own."""
        exposed, places = set(), {}
        for label, lines in self.lines.items():
            known = set()
            for line in lines:
                reads = {*line.reads} - known
                exposed |= reads
                known |= {*line.writes}
            for name in known:
                places.setdefault(name, []).append(label)
        for name, labels in places.items():
            if len(labels) > 1 and name not in exposed and self.names.is_plain(name):
                for label in labels:
                    for line in self.lines[label]:
                        line.rename({name: f"{name} in {label}"})

    def _place_in_calls(self):
        """Tell lines of callees' code by which calls they come in."""
        for labels in (self.sweep.forward_labels, self.sweep.reverse_labels):
            for label, own in labels.items():
                for line in self.lines[own]:
                    line.site = self.sweep.fn.sites.get(label, ())

    def _tell_records_apart(self):
        """Mark what the loops record that may be skipped on the way back."""
        marks, sweep = {}, self.sweep
        for skipped in [s for s in sweep.every_strategy() if s.asks]:
            mark = at_line(sweep, skipped.loop.header)
            while mark in marks.values():
                mark += "'"
            inner = [loop for h, loop in sweep.control.loops.items() if h in skipped.loop.body]
            marks |= {tuple(var.name for var in sweep._frame(loop)): mark for loop in inner}
        for lines in self.lines.values():
            for line in lines:
                line.mark = marks.get(line.names, "") if line.names else ""

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
        turns = {label for part in sweep.parts() for label in part.turns}
        kept = Structure(successors, entry, headers).loops.keys() | {stop} | turns
        successors, lines = _without_detours(successors, lines, kept)
        items, targets = Structure(successors, entry, headers).run()
        named = {*sweep.forward_labels.values(), *sweep.reverse_labels.values(), sweep.seed_label}
        for part in sweep.parts():
            named.update(part.again.values())
        edges = set(self.lines) - named - {part.done for part in sweep.parts()}
        layout = Layout(lines, targets, edges, self.names, self.source, self._ways())
        layout.conditions, layout.ranges, layout.turns = self._conditions(), self.ranges, turns
        return layout.write(items)

    def _conditions(self):
        """Blocks of the reverse sweep that ask for a condition -> the lines that the ways come from,
        if it holds and if not."""
        control, found = self.sweep.control, {}
        for label, (_, true) in self.sweep.plan.conditions.items():
            ways = control.predecessors[label]
            lines = self._last_lines([ways[true], ways[1 - true]])
            found[self.sweep.reverse_labels[label]] = lines
        return found

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

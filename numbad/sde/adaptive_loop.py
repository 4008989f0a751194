"""The loop over adaptive steps, as lines of source: a step is tried, judged, and accepted or rejected."""

from numbad.sde import checks
from numbad.sde.scheme import GENERAL
from numbad.sde.steps import StepWriter

CELLS_A_STEP = 1000.0  # that a step goes over on average, at most: each takes 40 ns for a channel
TOO_LONG = 4  # the status of a path of more cells


class AdaptiveLoop:
    """The lines of the loop over steps, for values or (`keeps`) for the steps themselves."""

    def __init__(self, problem, form, by_component, keeps=False):
        self.problem, self.form, self.keeps = problem, form, keeps
        self.by_component = by_component
        self.writer = StepWriter(form, problem.scheme, problem.calculus)
        self.embedded = problem.scheme.has_embedded_error
        self.nested = problem.noise == GENERAL
        self.old, self.new, self.errors = (form.names(prefix) for prefix in "yne")
        self.has_events = bool(problem.events)

    def lines(self):
        return [
            *self.begin(),
            "while i < times.size and status == 0:",
            *_indented(self.aim()),
            *_indented(self.attempt()),
            *_indented(self.judge()),
            *self.end(),
        ]

    def begin(self):
        exponent = 1.0 / (self.problem.scheme.error_order(self.problem.noise) + 0.5)
        width = "y_0.size" if self.form.is_array else self.form.count
        lines = [
            *checks.initial(self.form),
            "rtol, atol, h, longest, shortest, most = settings",
            f"exponent = {exponent!r}",
            "here, kept = place(times[0], dt), nothing_kept(channels)",
            "ws, hs = np.empty((4, channels)), np.empty((4, channels))",
            "if h == 0.0 and times.size > 1:",
            *_indented(self.first_step()),
            "i, status, log_error, again, tried, rejected = 1, 0, 0.0, False, 0, 0",
            f"if times[times.size - 1] - times[0] > {CELLS_A_STEP} * most * dt:",
            f"    status = {TOO_LONG}",
        ]
        if self.nested:
            lines += ["aims, aim_parts, pending = np.empty(64, np.int64), np.empty(64), 0"]
        if self.keeps:
            lines += [
                "k, ends = 0, np.zeros(times.size, np.int64)",
                "starts, sizes = np.empty(64), np.empty(64)",
                "dw = np.empty((64, channels))",
                "dh = np.empty((64, channels))",
            ]
        else:
            lines += [f"out = np.full((times.size, {width}), np.nan)", *self.put("0")]
        return lines

    def put(self, index, state=None):
        """Lines that put a state, that of the loop if None, into the outputs."""
        state = state or self.old
        if self.form.is_array:
            return ["for c in range(y_0.size):", f"    out[{index}, c] = {state[0]}[c]"]
        return [f"out[{index}, {c}] = {name}" for c, name in enumerate(state)]

    def first_step(self):
        """Lines that choose `h`, in which the drift moves the state by a hundredth, the noise by a tenth."""
        writer = StepWriter(self.form, self.problem.scheme, self.problem.calculus)
        writer.lines.append("t = times[0]")
        f = writer.name("f", writer.drift("t", self.old))
        one = ["np.ones(channels)" if self.form.is_array and self.form.is_matrix else "1.0"]
        ones = one * (1 if self.form.is_array else len(writer.w))
        g = writer.name("g", writer.noise(writer.diffusion("t", self.old), ones))
        sizes = [self.mean(names, self.old, self.old) for names in (self.old, f, g)]
        return [
            *writer.lines,
            *(f"size_{k} = math.sqrt({size})" for k, size in enumerate(sizes)),
            "h = (times[-1] - times[0]) / 16.0",
            "if not size_0 > 1e-5:",
            "    h /= 64.0",
            "elif size_1 > 0.0:",
            "    h = min(h, 0.01 * size_0 / size_1)",
            "if size_0 > 1e-5 and size_2 > 0.0:",
            "    h = min(h, 0.01 * (size_0 / size_2) * (size_0 / size_2))",
            "h = max(h, shortest)",
        ]

    def mean(self, errors, old, new):
        """Source of the mean square of errors in units of what is allowed."""
        if self.form.is_array:
            name = "mean_square_each" if self.by_component else "mean_square"
            return f"{name}({errors[0]}, {old[0]}, {new[0]}, rtol, atol)"
        index = "[{}]" if self.by_component else ""
        rows = [
            f"scaled_square({e}, {y}, {n}, rtol{index.format(c)}, atol{index.format(c)})"
            for c, (e, y, n) in enumerate(zip(errors, old, new, strict=True))
        ]
        return f"({' + '.join(rows)}) / {len(rows)}.0"

    def aim(self):
        """Lines that choose where the step goes, to the next output at most."""
        lines = [f"goal = place(times[{-1 if self.problem.dense else 'i'}], dt)"]
        if self.nested:
            lines += ["if pending > 0:", "    goal = aims[pending - 1], aim_parts[pending - 1]"]
        arrive = [*(["ends[i] = k"] if self.keeps else self.put("i")), "i += 1"]
        if self.nested:
            arrive = ["if pending > 0:", "    pending -= 1", "else:", *_indented(arrive)]
        return [
            *lines,
            "left = distance(here, goal) * dt",
            "if left <= 0.0:",
            *_indented(arrive),
            "    continue",
            "h = min(h, longest)",
            "to, arrives = goal, h * 1.000001 >= left",
            "if not arrives:",
            "    to = ahead(here, h / dt)",
            "t, size = (here[0] + here[1]) * dt, distance(here, to) * dt",
            *(["end = (to[0] + to[1]) * dt"] if self.has_events else []),
        ]

    def attempt(self):
        """Lines that try the step; the new state and its error."""
        form = self.form

        def step(into, time, size, state, row):
            noise = [*_read("ws", row, form, self.writer.w)]
            noise += _read("hs", row, form, self.writer.areas)
            return f"{into} = step({', '.join([time, size, 'args', *state, *noise])})"

        def members(name):
            return [f"{name}[{c}]" for c in range(form.components)]

        if self.embedded:
            names = [*self.new, *self.errors]
            return [
                "draw(kept, key, number, dt, sign, here, to, ws, hs, 0)",
                step("found", "t", "size", self.old, 0),
                *(f"{name} = found[{c}]" for c, name in enumerate(names)),
            ]
        return [
            "middle = halfway(here, to)",
            "between = (middle[0] + middle[1]) * dt",
            "before = distance(here, middle) * dt",
            "beyond = distance(middle, to) * dt",
            "draw(kept, key, number, dt, sign, here, middle, ws, hs, 0)",
            "draw(kept, key, number, dt, sign, middle, to, ws, hs, 1)",
            "put_together(ws, hs, before, beyond)",
            step("whole", "t", "size", self.old, 2),
            step("half", "t", "before", self.old, 0),
            step("found", "between", "beyond", members("half"), 1),
            *(f"{name} = found[{c}]" for c, name in enumerate(self.new)),
            *(f"{name} = found[{c}] - whole[{c}]" for c, name in enumerate(self.errors)),
        ]

    def judge(self):
        """Lines that accept or reject the step and choose the next size."""
        if self.form.is_array:
            finite = f"all_finite({self.new[0]})"
        else:
            finite = " and ".join(f"abs({name}) < np.inf" for name in self.new)
        reject = [
            "rejected += 1",
            "h = size * factor",
            "if h < shortest:",
            "    status = 1 if square > 1.0 and finite else 3",
        ]
        if self.nested:
            reject = [
                "if not arrives:",
                "    aims[pending], aim_parts[pending] = to",
                "    pending += 1",
                "factor = min(factor, 0.5)",
                *reject,
            ]
        return [
            f"square = {self.mean(self.errors, self.old, self.new)}",
            f"finite = {finite}",
            "good = finite and square <= 1.0",
            "factor, log_error = next_factor(square, good, again, log_error, exponent)",
            *(self.look_for_events() if self.has_events else ()),
            "again = not good",
            "tried += 1",
            "if good:",
            *_indented(self.accept()),
            *(f"    {old} = {new}" for old, new in zip(self.old, self.new, strict=True)),
            "    here = to",
            "    h = max(h, size * factor) if arrives else size * factor",
            *(_indented(self.stop()) if self.has_events else ()),
            "else:",
            *_indented(reject),
            "if tried >= most and status == 0:",
            "    status = 2",
        ]

    def parts(self):
        """The whole step, or its halves.

        Of each, where it begins and ends, when, its size, its state and that at its end.
        """
        if self.embedded:
            return [("here", "to", "t", "end", "size", self.old, self.new)]
        half = [f"half[{c}]" for c in range(self.form.components)]
        return [
            ("here", "middle", "t", "between", "before", self.old, half),
            ("middle", "to", "between", "end", "beyond", half, self.new),
        ]

    def look_for_events(self):
        """Lines that reject a step near an event, unless the state moves by less than is allowed to err."""
        lines = ["over, met = 0.0, 0"]
        for row, (_, _, time, end, size, state, new) in enumerate(self.parts()):
            call = f"meets({', '.join([time, size, end, 'args', *state, *new])})"
            lines += [f"met = {call}"] if row == 0 else [f"next_met = {call}"]
        moved = [f"{new} - {old}" for old, new in zip(self.old, self.new, strict=True)]
        near = "met > 0" if self.embedded else "max(met, next_met) > 0"
        return [
            "if good:",
            *_indented(lines),
            f"    if {near} and 0.5 * size >= shortest:",
            f"        if not {self.mean([f'({x})' for x in moved], self.old, self.new)} <= 1.0:",
            "            good, factor = False, 0.5",
        ]

    def accept(self):
        """Lines that note an accepted step, the whole or its halves, with its outputs or events."""
        lines, *more = (
            [*self.inside(row, *part), *self.keep(part[2], part[4], row)]
            for row, part in enumerate(self.parts())
        )
        for second in more:
            if self.has_events:  # one in the first half ends the step there
                lines += ["if met == 2:", "    to, arrives = middle, False", "else:"]
                second = _indented(second)
            lines += second
        if self.problem.dense:
            lines += [
                "while i < times.size and distance(place(times[i], dt), to) >= 0.0:",
                *_indented(["ends[i] = 2 * k"] if self.keeps else self.put("i", self.new)),
                "    i += 1",
            ]
        return lines

    def inside(self, row, begin, to, time, end, size, state, _):
        """Lines for what happens within a step: outputs, or events."""
        if self.problem.dense:
            return self.outputs_within(begin, to, time, state)
        if not self.has_events:
            return []
        noise = [*_read("ws", row, self.form, self.writer.w)]
        noise += _read("hs", row, self.form, self.writer.areas)
        names = [*self.new, "over"]
        return [
            f"if {'next_met' if row else 'met'} == 2:",
            f"    parted = divided({', '.join([time, size, end, 'args', *state, *noise])})",
            *(f"    {name} = parted[{c}]" for c, name in enumerate(names)),
        ]

    def stop(self):
        """Lines that hold the state for all outputs after a terminal event."""
        return [
            "if over == 1.0:",
            "    for j in range(i, times.size):",
            *("        " + line for line in (["ends[j] = k"] if self.keeps else self.put("j"))),
            "    i = times.size",
        ]

    def keep(self, time, size, row):
        """Lines that note a step and its noise."""
        if not self.keeps:
            return []
        return [
            "if k == starts.size:",
            "    starts, sizes = longer(starts), longer(sizes)",
            "    dw, dh = longer_rows(dw), longer_rows(dh)",
            f"starts[k], sizes[k] = {time}, {size}",
            f"note(k, dw, ws, {row})",
            f"note(k, dh, hs, {row})",
            "k += 1",
        ]

    def outputs_within(self, begin, end, time, state):
        """Lines that take a step aside to each output between two places."""
        noise = _read("ws", 3, self.form, self.writer.w) + _read(
            "hs", 3, self.form, self.writer.areas
        )
        aside = [f"aside = step({', '.join([time, 'part', 'args', *state, *noise])})"]
        aside += self.put("i", [f"aside[{c}]" for c in range(self.form.components)])
        if self.keeps:
            aside = [*self.keep(time, "part", 3), "ends[i] = 2 * k + 1"]
        return [
            f"while i < times.size and distance(place(times[i], dt), {end}) > 0.0:",
            "    at = place(times[i], dt)",
            f"    part = distance({begin}, at) * dt",
            f"    look(kept, key, number, dt, sign, {begin}, at, ws, hs, 3)",
            *_indented(aside),
            "    i += 1",
        ]

    def end(self):
        lines = ["time = (here[0] + here[1]) * dt"]
        if not self.keeps:
            return [*lines, "return out, status, time"]
        count = "k + 1" if self.has_events else "k"
        return [
            *lines,
            "for j in range(i, times.size):",
            f"    ends[j] = {'2 * k' if self.problem.dense else 'k'}",
            "accepted = tried - rejected",
            *(["starts = longer(starts)", "starts[k] = time"] if self.has_events else []),
            f"noted = starts[:{count}], sizes[:k], dw[:k], dh[:k]",
            "return Taken(ends, *noted, status, time, accepted, rejected)",
        ]


def _indented(lines):
    return ["    " + line for line in lines]


def _read(source, row, form, names):
    """Sources of the noise of a step."""
    if form.is_array and form.channels is None:
        return [f"{source}[{row}]"] if names else []
    return [f"{source}[{row}, {j}]" for j in range(len(names))]

"""Steps of methods for Langevin's equation."""

from numbad.sde.scheme import InterpolatedLangevin, LangevinSplitting
from numbad.sde.steps.writer import write_step


@write_step.register
def _(scheme: LangevinSplitting, writer):
    parts = scheme.parts
    write = _split_array if writer.form.is_array else _split_tuple
    return write(writer, parts, {part: f"(h / {parts.count(part)}.0)" for part in set(parts)})


def _split_tuple(writer, parts, widths):
    """For q and v in names of their own."""
    half = writer.form.count // 2
    q, v = writer.y[:half], writer.y[half:]
    zeros, ones = ["0.0"] * half, ["1.0"] * half
    noise = writer.name("n", writer.noise(writer.diffusion("t", writer.y), writer.w))[half:]
    for k, part in enumerate(parts):
        time, width = ("t + h" if k > parts.index("O") else "t"), widths[part]
        if part == "A":
            moved = writer.drift(time, q + v)[:half]
            q = _moved(writer, "q", q, width, moved)
        elif part == "B":
            v = _moved(writer, "v", v, width, writer.drift(time, q + zeros)[half:])
        else:
            rest, beside = writer.drift("t", q + zeros)[half:], writer.drift("t", q + ones)[half:]
            names = [writer.fresh("v") for _ in range(half)]
            for i, name in enumerate(names):
                writer.lines += [
                    f"c, s = damping(({rest[i]} - {beside[i]}) * h)",
                    f"{name} = c * {v[i]} + s * {noise[i]}",
                ]
            v = names
    writer.lines += [f"{old} = {new}" for old, new in zip(writer.y, q + v, strict=True)]
    return writer.lines


def _moved(writer, prefix, old, width, slopes):
    names = [writer.fresh(prefix) for _ in old]
    rows = zip(names, old, slopes, strict=True)
    writer.lines += [f"{name} = {x} + {width} * {slope}" for name, x, slope in rows]
    return names


def _split_array(writer, parts, widths):
    """For q and v in halves of an array."""
    y, more = writer.y[0], writer.form.arguments()
    noise = writer.noise(writer.diffusion("t", writer.y), writer.w)[0]
    lines = [f"noise = {noise}", f"z, half = {y}.copy(), {y}.size // 2"]
    for k, part in enumerate(parts):
        time, width = ("t + h" if k > parts.index("O") else "t"), widths[part]
        if part != "A":
            lines += ["rest = z.copy()", "rest[half:] = 0.0"]
        if part == "O":
            lines += ["beside = z.copy()", "beside[half:] = 1.0"]
            lines.append(f"slopes, more_slopes = drift(t, rest{more}), drift(t, beside{more})")
        else:
            lines.append(f"slopes = drift({time}, {'z' if part == 'A' else 'rest'}{more})")
        lines.append("for row in range(half):")
        if part == "A":
            lines.append(f"    z[row] += {width} * slopes[row]")
        elif part == "B":
            lines.append(f"    z[half + row] += {width} * slopes[half + row]")
        else:
            lines += [
                "    c, s = damping((slopes[half + row] - more_slopes[half + row]) * h)",
                "    z[half + row] = c * z[half + row] + s * noise[half + row]",
            ]
    return [*writer.lines, *lines, f"{y} = z"]


@write_step.register
def _(scheme: InterpolatedLangevin, writer):
    return _interpolated_array(writer) if writer.form.is_array else _interpolated_tuple(writer)


def _noises(writer):
    """Names of the diffusion times W, times H, and of what its change over the step adds to the first."""
    now, then = (writer.diffusion(time, writer.y) for time in ("t", "t + h"))
    areas, change = writer.areas, writer.channels(lambda w, a: f"0.5 * {w} - {a}")
    more = zip(writer.noise(then, change), writer.noise(now, change), strict=True)
    return (
        writer.name("n", writer.noise(now, writer.w)),
        writer.name("n", writer.noise(now, areas)),
        writer.name("n", [f"{new} - {old}" for new, old in more]),
    )


def _interpolated_tuple(writer):
    """For q and v in names of their own."""
    half = writer.form.count // 2
    q, v = writer.y[:half], writer.y[half:]
    zeros, ones = ["0.0"] * half, ["1.0"] * half
    noise, areas, more = (names[half:] for names in _noises(writer))
    rest, beside = writer.drift("t", q + zeros), writer.drift("t", q + ones)
    force = rest[half:]
    moved = [writer.fresh("q") for _ in range(half)]
    for i, name in enumerate(moved):
        writer.lines += [
            f"x_{i} = ({force[i]} - {beside[half + i]}) * h",
            f"e_{i}, p1_{i}, p2_{i}, p3_{i} = damped_integrals(x_{i})",
            f"{name} = {q[i]} + {beside[i]} * h * (p1_{i} * {v[i]} + p2_{i} * (h * {force[i]} + {noise[i]}) "
            f"+ p3_{i} * {areas[i]})",
        ]
    then = writer.drift("t + h", moved + zeros)[half:]
    kicked = [writer.fresh("v") for _ in range(half)]
    writer.lines += [
        f"{name} = e_{i} * {v[i]} + h * ((p1_{i} - p2_{i}) * {force[i]} + p2_{i} * {then[i]}) "
        f"+ p1_{i} * {noise[i]} - x_{i} * p3_{i} * {areas[i]} + {more[i]}"
        for i, name in enumerate(kicked)
    ]
    writer.lines += [f"{old} = {new}" for old, new in zip(writer.y, moved + kicked, strict=True)]
    return writer.lines


def _interpolated_array(writer):
    """For q and v in halves of an array."""
    y, given = writer.y[0], writer.form.arguments()
    noise, areas, more = (names[0] for names in _noises(writer))
    return [
        *writer.lines,
        f"z, rest, half = {y}.copy(), {y}.copy(), {y}.size // 2",
        "rest[half:] = 0.0",
        "beside = rest.copy()",
        "beside[half:] = 1.0",
        f"force, pulled = drift(t, rest{given}), drift(t, beside{given})",
        "for row in range(half):",
        f"    v, f, n, a = z[half + row], force[half + row], {noise}[half + row], {areas}[half + row]",
        "    x = (f - pulled[half + row]) * h",
        "    e, p1, p2, p3 = damped_integrals(x)",
        "    rest[row] += pulled[row] * h * (p1 * v + p2 * (h * f + n) + p3 * a)",
        "    z[row] = rest[row]",
        f"    z[half + row] = e * v + h * (p1 - p2) * f + p1 * n - x * p3 * a + {more}[half + row]",
        f"then = drift(t + h, rest{given})",
        "for row in range(half):",
        "    x = (force[half + row] - pulled[half + row]) * h",
        "    z[half + row] += h * damped_integrals(x)[2] * then[half + row]",
        f"{y} = z",
    ]

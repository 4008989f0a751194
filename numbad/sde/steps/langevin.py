"""Steps of splittings of Langevin's equation."""

from numbad.sde.scheme import LangevinSplitting
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

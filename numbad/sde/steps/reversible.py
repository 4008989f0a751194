"""Steps of reversible Heun, which carry a second state and its slopes from step to step."""

from numbad.sde.scheme import ReversibleScheme
from numbad.sde.steps.writer import scaled, write_start, write_step


def carried_names(writer):
    """Names of the second state, of the drift and of the diffusion there: `z_0`, `f_0`, `g_0`, ..."""
    return tuple(writer.form.names(prefix) for prefix in "zfg")


@write_start.register
def _(scheme: ReversibleScheme, writer):
    z, f, g = carried_names(writer)
    found = writer.drift("t", writer.y), writer.diffusion("t", writer.y)
    lines = writer.lines + [f"{new} = {y} + 0.0" for new, y in zip(z, writer.y, strict=True)]
    return lines + _kept(writer, f, g, *found)


def _kept(writer, f, g, drift, diffusion):
    """Lines that keep slopes for the next step; copies, as a function may write to the array it returned."""
    copied = " + 0.0" if writer.form.is_array else ""
    pairs = zip((*f, *g), (*drift, *diffusion), strict=True)
    return [f"{name} = {source}{copied}" for name, source in pairs]


@write_step.register
def _(scheme: ReversibleScheme, writer):
    z, f, g = carried_names(writer)
    doubled = [f"2.0 * {y} - {old}" for y, old in zip(writer.y, z, strict=True)]
    beside = writer.combined([scaled(1.0, f), writer.noise(g, writer.w)], "s", start=doubled)
    drift, diffusion = writer.drift("t + h", beside), writer.diffusion("t + h", beside)
    last = [scaled(0.5, f), scaled(0.5, drift)]
    halves = [f"0.5 * {w}" for w in writer.w]
    last += [writer.noise(g, halves), writer.noise(diffusion, halves)]
    writer.end(last)
    writer.lines += [f"{old} = {new}" for old, new in zip(z, beside, strict=True)]
    return writer.lines + _kept(writer, f, g, drift, diffusion)

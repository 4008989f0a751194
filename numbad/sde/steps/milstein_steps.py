"""Steps of Milstein's methods, with the slope of the diffusion and with a difference in its place."""

from numbad.sde.scheme import ADDITIVE, ITO, DerivativeFreeMilstein, Milstein
from numbad.sde.steps.writer import scaled, write_step


@write_step.register
def _(scheme: Milstein, writer):
    g = writer.diffusion("t", writer.y)
    last = [scaled(1.0, writer.drift("t", writer.y)), writer.noise(g, writer.w)]
    if writer.form.noise != ADDITIVE:
        last.append(writer.noise(writer.own_slope("t", writer.y, g), double_integrals(writer)))
    return writer.end(last)


@write_step.register
def _(scheme: DerivativeFreeMilstein, writer):
    g, drift = writer.diffusion("t", writer.y), scaled(1.0, writer.drift("t", writer.y))
    last = [drift, writer.noise(g, writer.w)]
    if writer.form.noise != ADDITIVE:
        writer.lines.append("root = math.sqrt(h)")
        # With w * w, not w * w - h, the drift in it would leave a term of h**1.5 in each step.
        moved = [drift] if writer.calculus == ITO else []
        beside = writer.combined([*moved, scaled(1.0, g, "root")], "s")
        pairs = zip(writer.diffusion("t", beside), g, strict=True)
        slopes = [f"(({there} - {here}) / root)" for there, here in pairs]
        last.append(writer.noise(slopes, double_integrals(writer)))
    return writer.end(last)


def double_integrals(writer):
    """For each channel, the integral of W dW over the step, in the calculus of the problem."""
    less = " - h" if writer.calculus == ITO else ""
    return [f"0.5 * ({w} * {w}{less})" for w in writer.w]

"""Steps of methods that are implicit in the drift."""

from numbad.sde.scheme import ADDITIVE, DriftImplicit
from numbad.sde.steps.milstein_steps import double_integrals
from numbad.sde.steps.writer import scaled, write_step


@write_step.register
def _(scheme: DriftImplicit, writer):
    if scheme.is_split:
        z = writer.implicit("t + h", "h", writer.y)
        return writer.end([writer.noise(writer.diffusion("t + h", z), writer.w)], start=z)
    g = writer.diffusion("t", writer.y)
    known = [writer.noise(g, writer.w)]
    if scheme.theta < 1.0:
        known.append(scaled(1.0 - scheme.theta, writer.drift("t", writer.y)))
    if scheme.has_slope and writer.form.noise != ADDITIVE:
        known.append(writer.noise(writer.own_slope("t", writer.y, g), double_integrals(writer)))
    coefficient = "h" if scheme.theta == 1.0 else f"{scheme.theta!r} * h"
    z = writer.implicit("t + h", coefficient, writer.combined(known, "k"))
    return writer.end([], start=z)

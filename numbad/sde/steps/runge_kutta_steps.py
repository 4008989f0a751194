"""Steps of stochastic Runge-Kutta methods with one family of stages."""

from numbad.sde.scheme import RungeKutta
from numbad.sde.steps.writer import scaled, weighted, write_step


@write_step.register
def _(scheme: RungeKutta, writer):
    stages, areas = len(scheme.c), scheme.needs_areas
    a_h = scheme.a_h or tuple((0.0,) * i for i in range(stages))
    b_h = scheme.b_h or (0.0,) * stages
    y = []

    def terms(b, b_w, b_h):
        found = []
        for j, pair in enumerate(zip(b_w, b_h, strict=True)):
            if b[j]:
                found.append(scaled(b[j], writer.drift(writer.time(scheme.c[j]), y[j])))
            if any(pair):
                g = writer.diffusion(writer.time(scheme.c[j]), y[j])
                found.append(
                    writer.noise(
                        g, writer.channels(lambda w, a, p=pair: weighted((p[0], w), (p[1], a)))
                    )
                )
        return found

    for i in range(stages):
        y.append(writer.combined(terms(scheme.a[i], scheme.a_w[i], a_h[i]), "s"))
    last = terms(scheme.b, scheme.b_w, b_h)
    if scheme.time_correction:
        change = writer.channels(lambda w, a: f"0.5 * {w} - {a}")
        now, then = (writer.diffusion(time, writer.y) for time in ("t", "t + h"))
        last.append(writer.noise(then, change))
        last.append([f"-({source})" for source in writer.noise(now, change)])
    assert areas or not any(b_h)
    if scheme.error:
        none = (0.0,) * stages
        writer.error = terms(scheme.error, scheme.error_w or none, scheme.error_h or none)
    return writer.end(last)

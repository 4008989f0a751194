"""Steps of Roessler's methods of strong order 1.5, for diagonal and for additive noise."""

from numbad.sde.scheme import AdditiveRoessler, DiagonalRoessler
from numbad.sde.steps.writer import scaled, weighted, write_step


def _stages(writer, scheme, noise_of):
    """Drift stages of Roessler's forms; `noise_of(i)` gives the terms of the noise in stage i."""
    stages = []
    for i, row in enumerate(scheme.a0):
        known = [scaled(weight, stages[j]) for j, weight in enumerate(row) if weight]
        state, time = writer.combined(known + noise_of(i), "s"), writer.time(scheme.c0[i])
        if i and scheme.gamma:
            state = writer.implicit(time, f"{scheme.gamma!r} * h", state)
        stages.append(writer.drift(time, state))
    return stages


@write_step.register
def _(scheme: AdditiveRoessler, writer):
    times = [writer.time(c) for c in scheme.c1]
    area = writer.channels(lambda w, a: f"0.5 * {w} + {a}")

    def noise_of(i):
        return [
            writer.noise(writer.diffusion(times[j], writer.y), [f"{b!r} * ({x})" for x in area])
            for j, b in enumerate(scheme.b0[i])
            if b
        ]

    stages = _stages(writer, scheme, noise_of)
    last = [scaled(b, f) for b, f in zip(scheme.alpha, stages, strict=True) if b]
    for j, pair in enumerate(zip(*scheme.betas, strict=True)):
        if any(pair):
            weights = writer.channels(
                lambda w, a, p=pair: weighted((p[0], w), (p[1], f"(0.5 * {w} + {a})"))
            )
            last.append(writer.noise(writer.diffusion(times[j], writer.y), weights))
        if pair[1]:
            weights = [f"{pair[1]!r} * ({x})" for x in area]
            writer.error.append(writer.noise(writer.diffusion(times[j], writer.y), weights))
    writer.error += _beyond_euler(scheme.error or scheme.alpha, stages)
    return writer.end(last)


def _beyond_euler(weights, stages):
    """Terms of sum_i weights_i h (f_i - f_0); weights whose sum is zero are meant as they are."""
    total = sum(weights[1:])
    terms = [scaled(x, f) for x, f in zip(weights[1:], stages[1:], strict=True) if x]
    return [*terms, scaled(-total, stages[0])]


@write_step.register
def _(scheme: DiagonalRoessler, writer):
    writer.lines.append("root = math.sqrt(h)")
    chi = []
    for j, (w, a) in enumerate(zip(writer.w, writer.areas, strict=True)):
        names = [f"chi{k}_{j}" for k in (1, 2, 3)]
        writer.lines += [
            f"{names[0]} = ({w} * {w} - h) / (2.0 * root)",
            f"{names[1]} = 0.5 * {w} + {a}",
            f"{names[2]} = ({w} * {w} - 3.0 * h) * {w} / (6.0 * h)",
        ]
        chi.append((w, *names))
    f, g = [], []
    for i in range(len(scheme.alpha)):
        drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a0[i]) if x]
        noises = [
            writer.noise(g[j], [f"{x!r} * {c[2]}" for c in chi])
            for j, x in enumerate(scheme.b0[i])
            if x
        ]
        state = writer.combined(drifts + noises, "s")
        f.append(writer.drift(writer.time(scheme.c0[i]), state) if _used(scheme, i) else None)
        drifts = [scaled(x, f[j]) for j, x in enumerate(scheme.a1[i]) if x]
        noises = [scaled(x, g[j], "root") for j, x in enumerate(scheme.b1[i]) if x]
        state = writer.combined(drifts + noises, "s")
        g.append(writer.diffusion(writer.time(scheme.c1[i]), state))
    last = [scaled(x, f[i]) for i, x in enumerate(scheme.alpha) if x]
    for j, weights in enumerate(zip(*scheme.betas, strict=True)):
        last.append(writer.noise(g[j], [weighted(*zip(weights, c, strict=True)) for c in chi]))
        if any(weights[2:]):
            beyond = [weighted(*zip(weights[2:], c[2:], strict=True)) for c in chi]
            writer.error.append(writer.noise(g[j], beyond))
    weights = [x for x, stage in zip(scheme.alpha, f, strict=True) if stage]
    writer.error += _beyond_euler(weights, [stage for stage in f if stage])
    return writer.end(last)


def _used(scheme, i):
    """Whether the drift of stage i is used."""
    later = [row[i] for table in (scheme.a0, scheme.a1) for row in table if len(row) > i]
    return bool(scheme.alpha[i]) or any(later)

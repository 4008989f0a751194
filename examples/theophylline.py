"""Theophylline in three people: what they share, what is each one's own, and which model says it best.

A. J. Boeckmann, L. B. Sheiner & S. L. Beal, NONMEM Users Guide, part V (1994): doses by mouth in mg/kg,
times in hours, concentrations in the serum in mg/L.
"""

import numpy as np

import numbad as nd

DATA = {  # dose, times, concentrations
    "first": (4.02, [0, 0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12, 24.37],
              [0.74, 2.84, 6.57, 10.5, 9.66, 8.58, 8.36, 7.47, 6.89, 5.94, 3.28]),
    "second": (4.4, [0, 0.27, 0.52, 1, 1.92, 3.5, 5.02, 7.03, 9, 12, 24.3],
               [0, 1.72, 7.91, 8.31, 8.33, 6.85, 6.08, 5.4, 4.55, 3.01, 0.9]),
    "third": (4.53, [0, 0.27, 0.58, 1.02, 2.02, 3.62, 5.08, 7.07, 9, 12.15, 24.17],
              [0, 4.4, 6.9, 8.2, 7.8, 7.5, 6.2, 5.3, 4.9, 3.7, 1.05]),
}  # fmt: skip


def oral_dose(t, y, absorption, elimination, clearance):
    gut, body = y  # mg/kg
    return -absorption * gut, absorption * gut - elimination * body


def serum(t, y, absorption, elimination, clearance):
    return y[1] * elimination / clearance  # the volume is clearance / elimination


def fit(people, **options):
    experiments = [
        nd.fit.Experiment(t, c, y0=(dose, 0.0), name=name)
        for name, (dose, t, c) in DATA.items()
        if name in people
    ]
    start = dict(absorption=1.5, elimination=0.08, clearance=0.04)  # 1/h, 1/h, L/h/kg
    seen = dict(observables={"concentration": serum}, transforms="log", progress=False)
    return nd.fit.fit_ode(oral_dose, None, None, start, experiments=experiments, **seen, **options)


alone = fit(["first"])
print(alone)
# What R's nls has for this person, logarithms and their standard errors (example of SSfol).
assert np.allclose(np.log(alone.x), [0.5752, -2.9196, -3.9159], atol=1e-4)
errors = np.array(list(alone.stderr.values())) / alone.x
assert np.allclose(errors, [0.1728, 0.1709, 0.1273], atol=1e-4)

same = fit(DATA)
own = fit(DATA, own=["absorption", "elimination", "clearance"])
print(own, f"\nAIC: one for all {same.aic:.1f}, each one's own {own.aic:.1f}")
assert own.aic < same.aic - 10
own.plot("theophylline.png", title="Theophylline", xlabel="hours", ylabel="mg/L")

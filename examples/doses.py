"""A drug whose second dose was not written down: when it was given, from concentrations in the blood.

Then: when is it below a threshold for good? Writes doses.png. The data are made up by the closed form.
"""

import matplotlib
import numpy as np

import numbad as nd

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DOSE, VOLUME, THRESHOLD = 100.0, 20.0, 1.0


def body(t, y, ka, ke, second):
    gut, blood = y
    return -ka * gut, ka * gut - ke * blood


def after(dose, t, ka, ke):
    late = np.maximum(t - dose, 0.0)
    return DOSE / VOLUME * ka / (ka - ke) * (np.exp(-ke * late) - np.exp(-ka * late))


truth, times = (1.2, 0.25, 7.4), np.arange(0.5, 24.0, 1.5)
clean = after(0.0, times, *truth[:2]) + after(truth[2], times, *truth[:2])
measured = clean * (1.0 + 0.03 * np.random.default_rng(1).standard_normal(len(times)))
given = dict(y0=dict(gut=0.0, blood=0.0), doses=[(0.0, "gut", DOSE), ("second", "gut", DOSE)])
patient = nd.fit.Experiment(times, measured, sigma=0.03 * clean, **given)
options = dict(t0=0.0, observables=dict(level=lambda t, y, *args: y[1] / VOLUME))
guess = dict(ka=0.5, ke=0.1, second=10.0)
found = nd.fit.fit_ode(body, None, None, guess, experiments=[patient], **options)
print(found.summary())
ka, ke, second = fitted = tuple(found.params.values())
assert all(abs(np.subtract(fitted, truth)) < 4.0 * np.array(list(found.stderr.values())))

change = nd.ode.at_times(
    lambda *args: (0.0, args[2]), change=lambda t, y, k, *args: (y[0] + DOSE, y[1])
)
falls = nd.ode.event(lambda t, y, *args: y[1] - THRESHOLD * VOLUME, direction=-1)
watch = nd.ode.solver(body, events=[change, falls], keep_events=4, rtol=1e-9)


def last_fall(ka, ke, second):
    _, when, _, which = watch((0.0, 0.0), (0.0, 48.0), (ka, ke, second))
    return np.max(when * (which == 1))


moment, slopes = nd.value_and_grad(last_fall, argnums=(0, 1, 2))(*fitted)
print(f"below the threshold from {moment:.2f} h on; by ka, ke, second:", np.round(slopes, 3))
# The gut is empty by then: the second dose counts by its share of what is in the blood.
assert abs(slopes[2] - 1.0 / (1.0 + np.exp(-ke * second))) < 1e-3

fine, (figure, axes) = np.linspace(0.0, 30.0, 400), plt.subplots()
axes.plot(fine, after(0.0, fine, ka, ke) + after(second, fine, ka, ke), times, measured, "o")
axes.set(xlabel="time / h", ylabel="concentration / (mg / l)")
figure.savefig("doses.png")

"""Robertson's problem, stiff, as a differential-algebraic system: the solution and its sensitivities.

Writes robertson.png: three concentrations over eleven decades of time, and what each rate does to the first.
"""

import matplotlib
import numpy as np

import numbad as nd

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def robertson(t, y, slow, fast, middle):
    a, b, c = y
    forth, back = slow * a, middle * b * c
    return back - forth, forth - back - fast * b * b, a + b + c - 1.0


times = np.concatenate([[0.0], np.logspace(-5.0, 6.0, 200)])
solve = nd.ode.solver(
    robertson, method="Rodas5P", rtol=1e-8, atol=1e-12, mass_matrix=np.diag([1.0, 1.0, 0.0])
)


def concentrations(rates):
    return solve((1.0, 0.0, 0.0), times, (rates[0], rates[1], rates[2]))


rates = np.array([0.04, 3e7, 1e4])
ys = concentrations(rates)
relative = nd.jacobian(concentrations)(rates)[:, 0] * rates / ys[:, :1]
print("at the end:", ys[-1])
print("what 1 % more of each rate does to the first concentration there, in %:", relative[-1])
assert np.allclose(ys.sum(axis=1), 1.0, atol=1e-10)  # the algebraic equation
assert np.allclose(relative[-1, 0], relative[-1, 2] * -1.0, rtol=0.02)

figure, (above, below) = plt.subplots(2, sharex=True)
above.semilogx(times[1:], ys[1:] * [1.0, 1e4, 1.0], label=["a", "10 000 b", "c"])
below.semilogx(times[1:], relative[1:], label=["slow", "fast", "middle"])
above.set_ylabel("concentration")
below.set(xlabel="time", ylabel="d log a / d log rate")
for axes in above, below:
    axes.legend()
figure.savefig("robertson.png")

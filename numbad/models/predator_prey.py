"""Snowshoe hares and the lynx that eat them (A. J. Lotka 1925, V. Volterra 1926).

A model file as `numbad fit --model FILE` takes it; `numbad fit --help` explains the names.
"""


def rhs(t, y, prey_growth, predation, predator_death, conversion):
    """Return the time derivative of the state y at the time t."""
    hare, lynx = y
    eaten = hare * lynx
    return prey_growth * hare - predation * eaten, conversion * eaten - predator_death * lynx


# Where the fit starts. Rates are per year, predation and conversion per year and thousand pelts.
p0 = dict(prey_growth=0.5, predation=0.03, predator_death=0.8, conversion=0.02)

# The components of y, in its order, with their values at the first time in the data. Each is
# compared with the column of its own name.
y0 = dict(hare=30.0, lynx=4.0)
fit_y0 = True

# Where starts are drawn from (--starts), and where estimates must stay.
bounds = dict(
    prey_growth=(0.05, 5.0),
    predation=(0.003, 0.3),
    predator_death=(0.08, 8.0),
    conversion=(0.002, 0.2),
    hare=(3.0, 300.0),
    lynx=(0.4, 40.0),
)

# Counts scatter by a factor rather than by a number: compare logarithms.
scale = "log"
time = "year"

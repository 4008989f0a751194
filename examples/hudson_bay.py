"""Hares and lynx: fit a predator-prey model to the counts of the Hudson's Bay Company.

The same as the command `numbad fit`, in Python, with a profile likelihood interval on top.
"""

import numpy as np

import numbad as nd
from numbad.data import load_hudson_bay

years, counts = load_hudson_bay()  # thousands of pelts: hare, lynx


def predator_prey(t, y, prey_growth, predation, predator_death, conversion):
    hare, lynx = y
    return (
        prey_growth * hare - predation * hare * lynx,
        conversion * hare * lynx - predator_death * lynx,
    )


result = nd.fit.fit_ode(
    predator_prey,
    years,
    counts,
    dict(prey_growth=0.5, predation=0.03, predator_death=0.8, conversion=0.02),
    y0=(30.0, 4.0),
    fit_y0=True,
    components=("hare", "lynx"),
    scale="log",
    progress=False,
)
print(result.summary())
assert result.success

published = [0.54016, 0.027165, 0.79639, 0.023695, 34.602, 5.8445]
assert np.allclose(list(result.params.values()), published, rtol=1e-4)

in_1925 = result.predict(np.array([1900.0, 1925.0]))[-1]
print("expected in 1925, hare and lynx:", in_1925)
assert (in_1925 > 0).all()

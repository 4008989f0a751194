"""Functions with loops, and how many of the loops go in lanes: `(f, args, argnums, loops)`.

`FIRST` run each time, `REST` in turns.
"""

import numpy as np

rng = np.random.default_rng(0)
X, Y, P = rng.normal(size=(37, 3)), rng.normal(size=37), 0.3 * rng.normal(size=3)
FIRST, REST = [], []


def program(*args, argnums=0, loops=1, first=False):
    def listed(f):
        (FIRST if first else REST).append((f, args, argnums, loops))
        return f

    return listed

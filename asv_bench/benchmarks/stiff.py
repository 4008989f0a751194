"""Stiff solvers: POLLU and the Brusselator (O3), Robertson (O4), beside Rodas5P written by hand."""

import numpy as np

import numbad as nd

from . import measure
from .problems import stiff as problems
from .reference import rodas5p

HAND_BAR = 1.5
PROBLEMS = ("robertson", "pollu", "brusselator")


def _in_place(rhs):
    def fun(t, y, dy, p):
        rhs(y, p, dy)

    return fun


def _robertson_in_tuples(t, y, slow, fast, middle):
    a, b, c = y
    first, second, third = slow * a, fast * b * b, middle * b * c
    return third - first, first - third - second, second


def contenders(name):
    """`(by hand, by numbad)` for a problem, each a call that gives the state at the end."""
    if name == "robertson":
        pair, start, p, end = (
            (problems.robertson, problems.robertson_jacobian),
            np.array([1.0, 0.0, 0.0]),
            np.array([0.04, 3e7, 1e4]),
            1e5,
        )
    elif name == "pollu":
        pair, start, p, end = problems.pollu(), problems.POLLU_START, problems.RATES, 60.0
    else:
        pair = problems.brusselator, problems.brusselator_jacobian
        start, p, end = problems.brusselator_start(), problems.BRUSSELATOR, 1.0
    rtol, atol = (1e-6, 1e-8) if name == "robertson" else (1e-8, 1e-10)
    by_hand = rodas5p.build(*pair, len(start))
    options = dict(method="Rodas5P", rtol=rtol, atol=atol)
    times = (0.0, end)
    if name == "robertson":
        solve = nd.ode.solver(_robertson_in_tuples, **options)
        given = tuple(start.tolist()), times, tuple(p.tolist())
    else:
        solve = nd.ode.solver(_in_place(pair[0]), inplace=True, **options)
        given = start, times, (p,)
    return lambda: by_hand(start, p, 0.0, end, rtol, atol)[0], lambda: solve(*given)[-1]


class Solve:
    """Rodas5P on each problem, over the same by hand."""

    params = PROBLEMS
    param_names = ("problem",)
    timeout = 300

    def setup(self, name):
        measure.pin()
        self.hand, self.own = contenders(name)
        self.own()

    def time_solve(self, name):
        self.own()

    def track_ratio_to_hand(self, name):
        return measure.beside(self.hand, {"own": self.own})["own"].ratio

    track_ratio_to_hand.unit = "ratio"


def rows(options):
    """Every problem: the ratio to the solver by hand, and how far their ends lie apart."""
    found = []
    for name in PROBLEMS:
        hand, own = contenders(name)
        timing = measure.beside(hand, {"own": own}, samples=options.samples)["own"]
        found.append(measure.ratio_row(f"{name} / hand", timing, HAND_BAR))
        apart = np.max(np.abs(hand() - own()) / (1e-6 + np.abs(hand())))
        found.append(measure.Row(f"{name}: the ends apart", apart, "rel", bar=1e-3))
    error = np.max(np.abs(own_pollu() - problems.POLLU_END))
    return [*found, measure.Row("pollu: error at the end", error, "abs", bar=1e-8)]


def own_pollu():
    return contenders("pollu")[1]()


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("Rodas5P, over the same by hand", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Stiff problems (O3, O4) beside CVODES, CyRK's BDF and diffsol: times at the same achieved error.

Every contender runs at the same tolerances, an absolute one of a thousandth of the relative one; counted is
the fastest run whose error at the end does not exceed the one asked for. CVODES comes through CasADi,
with its symbolic Jacobian, evaluated by CasADi's own machine; diffsol through pydiffsol, which compiles.
"""

import numpy as np

import numbad as nd

from . import measure, peers, stiff

OWN = ("Rodas5P", "RadauIIA5", "BDF")
PEERS = {
    "CVODES": peers.cvodes_solver,
    "CyRK BDF": peers.cyrk_stiff_solver,
    "diffsol BDF": peers.diffsol_solver,
}
TOLERANCES = tuple(10.0 ** -np.arange(4.0, 11.5, 0.5))
ERRORS = (1e-4, 1e-7)
TIMES_TRIED = 5


def own_solver(rhs, start, p, end, method):
    """`solve(rtol, atol)` -> the state at the end, a tolerance compiled once."""
    fun, sparse, made = stiff.in_place(rhs), {}, {}
    if len(start) > 20:
        pattern = nd.sparsity(fun, 1, out=2)(0.0, start, np.empty_like(start), p)
        sparse = {"jac_sparsity": pattern}

    def solve(rtol, atol):
        if rtol not in made:
            made[rtol] = nd.ode.solver(
                fun, method=method, inplace=True, rtol=rtol, atol=atol, **sparse
            )
        return made[rtol](start, (0.0, end), (p,))[-1]

    return solve


def work_and_precision(solve, reference):
    """Pairs (error, seconds) of a contender, one for each tolerance at which it comes to the end."""
    found, scale = [], np.abs(reference) + 1e-6 * np.abs(reference).max()
    for rtol in TOLERANCES:

        def call(rtol=rtol):
            return solve(rtol, 1e-3 * rtol)

        try:
            end = np.asarray(call())
        except (RuntimeError, nd.IntegrationError):
            continue
        number = measure.calls_per_sample(call, measure.SAMPLE_SECONDS)
        seconds = min(measure.sample(call, number) for _ in range(TIMES_TRIED))
        found.append((float(np.max(np.abs(end - reference) / scale)), seconds))
    return found


def fastest(pairs, error):
    """The seconds of the fastest run that is as exact as that; NaN where none is."""
    return min((seconds for found, seconds in pairs if found <= error), default=np.nan)


def rows(name):
    (rhs, _), start, p, end, _ = stiff.problem(name)
    reference = own_solver(rhs, start, p, end, "RadauIIA5")(1e-12, 1e-16)
    contenders = {
        f"own {m}": work_and_precision(own_solver(rhs, start, p, end, m), reference) for m in OWN
    }
    for peer, build in PEERS.items():
        with measure.skipping(peer):
            contenders[peer] = work_and_precision(build(rhs, start, p, end), reference)
    found = []
    for error in ERRORS:
        times = {who: fastest(pairs, error) for who, pairs in contenders.items()}
        best = min(seconds for who, seconds in times.items() if who.startswith("own"))
        for who, seconds in times.items():
            note = f"{seconds * 1e6:.4g} us"
            bar = None if who.startswith("own") else 1.0
            row = measure.Row(
                f"{name} at {error:g}: {who} / own best",
                seconds / best, bar=bar, at_least=True, note=note,
            )  # fmt: skip
            found.append(row)
    return found


class Solve:
    """Our stiff methods on each problem, at the tolerances of the benchmark `stiff`."""

    params = (stiff.PROBLEMS, OWN)
    param_names = ("problem", "method")
    timeout = 300

    def setup(self, name, method):
        measure.pin()
        (rhs, _), start, p, end, self.tolerances = stiff.problem(name)
        self.solve = own_solver(rhs, start, p, end, method)
        self.solve(*self.tolerances)

    def time_solve(self, name, method):
        self.solve(*self.tolerances)


def main():
    measure.options(__doc__)
    met = [
        measure.print_table(f"{name}: times at the same error", rows(name))
        for name in stiff.PROBLEMS
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())

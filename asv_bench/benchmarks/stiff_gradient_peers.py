"""Gradients through stiff solutions (O3) beside diffrax's RecursiveCheckpointAdjoint and pydiffsol.

The gradient of the sum of squares of the end, by the start and all parameters: 45 numbers for POLLU, 150 for
the Brusselator on 5 by 5 cells. diffrax takes Kvaerno5, diffsol its BDF with forward sensitivities or its
adjoint, whichever is faster; all have the same tolerances.
"""

import numpy as np

from . import measure, peers, stiff

BARS = {"diffrax": 20.0, "diffsol": 8.0}
PEERS = {
    "diffrax": peers.diffrax_stiff_gradient,
    "diffsol": peers.diffsol_gradient,
}


def own_gradient(name, method):
    """A call that gives the gradient, by start and parameters in one array."""
    _, gradient = stiff.solution_and_gradient(name, method=method)
    return lambda: np.concatenate(gradient())


def rows(name, samples):
    """Times of peers over ours, and how far the gradients lie apart."""
    (rhs, _), start, p, end, tolerances = stiff.problem(name)
    own = {method: own_gradient(name, method) for method in ("Rodas5P", "BDF")}
    expected, found = own["Rodas5P"](), []
    for peer, build in PEERS.items():
        with measure.skipping(peer):
            theirs = build(rhs, start, p, end, *tolerances)
            apart = np.max(np.abs(theirs() - expected)) / np.max(np.abs(expected))
            timing = measure.beside(own["Rodas5P"], {peer: theirs}, samples=samples)[peer]
            found.append(
                measure.Row(
                    f"{name}: {peer} / own",
                    timing.ratio,
                    bar=BARS[peer],
                    at_least=True,
                    best=timing.best_ratio,
                    note=f"{timing.median * 1e3:.4g} ms",
                )
            )
            found.append(measure.Row(f"{name}: {peer}'s gradient and ours apart", apart, "rel"))
    timing = measure.beside(own["Rodas5P"], {"BDF": own["BDF"]}, samples=samples)["BDF"]
    found.append(measure.ratio_row(f"{name}: BDF / Rodas5P", timing, None))
    return found


def main():
    options = measure.options(__doc__)
    met = [
        measure.print_table(f"{name}: gradients", rows(name, options.samples))
        for name in stiff.WITH_GRADIENTS
    ]
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""ODE solvers: the Lorenz system (O1) and the gradient of a Lotka-Volterra misfit (O2).

Beside Tsit5 and DOP853 written by hand, SciPy, and CyRK and diffrax where they are installed.
"""

import functools

from . import chain, lorenz, measure, predator_prey

HAND_BAR = 1.1
HIGH_ORDER_BAR = 1.3
SCIPY_BAR = 200.0
GRADIENT_HAND_BAR = 3.0
GRADIENT_SOLVE_BAR = 4.0


def at_tolerance(solve):
    return functools.partial(solve, lorenz.TS, lorenz.TOLERANCE)


class Lorenz:
    """O1, t in [0, 100], tolerance 1e-8, 1000 saved points, by style of the right-hand side."""

    params = lorenz.STYLES
    param_names = ("state",)

    def setup(self, style):
        self.solve = at_tolerance(lorenz.numbad(style))
        self.solve()

    def time_solve(self, style):
        self.solve()

    def track_ratio_to_hand(self, style):
        base = at_tolerance(lorenz.hand())
        return measure.beside(base, {style: self.solve})[style].ratio

    track_ratio_to_hand.unit = "ratio"


class LorenzPeers:
    """O1, how many times faster than SciPy, and the time at equal error over the hand's."""

    timeout = 300

    def setup(self):
        measure.pin()

    def track_times_faster_than_scipy_rk45(self):
        own, peer = at_tolerance(lorenz.numbad()), at_tolerance(lorenz.scipy("RK45"))
        return measure.beside(own, {"peer": peer})["peer"].ratio

    def track_equal_error_ratio_to_hand(self):
        return lorenz.ratio_at_equal_error({"numbad": lorenz.numbad()})["numbad"]

    track_times_faster_than_scipy_rk45.unit = track_equal_error_ratio_to_hand.unit = "ratio"


class LorenzHighOrder:
    """O1 by methods of high order: the time at equal error over that of DOP853 by hand."""

    timeout = 300
    params = ("DOP853", "Vern9")
    param_names = ("method",)

    def track_equal_error_ratio_to_hand(self, method):
        measure.pin()
        solvers = {method: lorenz.numbad(method=method)}
        return lorenz.ratio_at_equal_error(solvers, method="DOP853")[method]

    track_equal_error_ratio_to_hand.unit = "ratio"


class Gradient:
    """O2, the gradient by four parameters and two initial values, by tolerance."""

    params = (1e-6, 1e-9)
    param_names = ("tolerance",)

    def setup(self, tolerance):
        measure.pin()
        self.gradient = predator_prey.numbad_gradient(tolerance)
        self.gradient()

    def time_gradient(self, tolerance):
        self.gradient()

    def track_ratio_to_hand(self, tolerance):
        hand = predator_prey.hand_gradient(tolerance)
        return measure.beside(hand, {"own": self.gradient})["own"].ratio

    def track_ratio_to_solve(self, tolerance):
        solve = predator_prey.numbad_solve(tolerance)
        return measure.beside(solve, {"own": self.gradient})["own"].ratio

    def track_error(self, tolerance):
        return predator_prey.error(self.gradient())

    track_ratio_to_hand.unit = track_ratio_to_solve.unit = "ratio"
    track_error.unit = "relative"


class DiscreteAdjoint:
    """Gradients in reverse mode over numbad's own solve: O2 by 6 inputs, the chain by 120."""

    def setup(self):
        measure.pin()

    def track_predator_prey(self):
        gradient = predator_prey.numbad_gradient(1e-6, mode="reverse")
        return measure.beside(predator_prey.numbad_solve(1e-6), {"own": gradient})["own"].ratio

    def track_chain(self):
        solve, gradient = chain.solve_and_gradient()
        return measure.beside(solve, {"own": gradient})["own"].ratio

    track_predator_prey.unit = track_chain.unit = "ratio"


def lorenz_rows(options):
    """O1: every contender over the hand-written solver, then over SciPy."""
    own = {f"numbad, {style}": lorenz.numbad(style) for style in lorenz.STYLES}
    solvers = own | ({} if options.no_peers else lorenz.installed_peers())
    calls = {name: at_tolerance(solve) for name, solve in solvers.items()}
    timings = measure.beside(at_tolerance(lorenz.hand()), calls, samples=options.samples)
    bars = {"numbad, tuple": HAND_BAR}
    rows = [measure.ratio_row(name, timings[name], bars.get(name)) for name in calls]
    if not options.no_peers:
        faster = timings["SciPy RK45"].ratio / timings["numbad, tuple"].ratio
        rows.append(measure.Row("SciPy RK45 / numbad", faster, bar=SCIPY_BAR, at_least=True))
    return rows


def equal_error_rows(options):
    """O1: time to the error 1e-4 on [0, 20], over the hand-written solver's."""
    solvers = {"numbad, tuple": lorenz.numbad()}
    if not options.no_peers:
        solvers |= lorenz.installed_peers()
    ratios = lorenz.ratio_at_equal_error(solvers)
    best_peer = min((ratio for name, ratio in ratios.items() if "Tsit5" in name), default=None)
    return [
        measure.Row(name, ratio, bar=best_peer if name == "numbad, tuple" else None)
        for name, ratio in ratios.items()
    ]


def high_order_rows(options):
    """O1: time to the error 1e-4 on [0, 20], over that of DOP853 written by hand."""
    methods = LorenzHighOrder.params
    solvers = {f"numbad, {method}": lorenz.numbad(method=method) for method in methods}
    ratios = lorenz.ratio_at_equal_error(solvers, method="DOP853")
    return [measure.Row(name, ratio, bar=HIGH_ORDER_BAR) for name, ratio in ratios.items()]


def gradient_rows(options, tolerance):
    """O2: every gradient over the hand-written one, and numbad's over its own solve.

    The hand-written sensitivities take part in the error control, numbad's follow the steps of the
    solve alone. So numbad is also measured at a tenth of the tolerance, with the error to beat.
    """
    hand = predator_prey.hand_gradient(tolerance)
    own = predator_prey.numbad_gradient(tolerance)
    calls = {"numbad": own, "numbad, tolerance / 10": predator_prey.numbad_gradient(tolerance / 10)}
    if not options.no_peers:
        calls |= predator_prey.installed_peers(tolerance)
    bars = dict.fromkeys([name for name in calls if "numbad" in name], GRADIENT_HAND_BAR)
    error_bars = {"numbad, tolerance / 10": predator_prey.error(hand())}
    timings = measure.beside(hand, calls, samples=options.samples)
    rows = [measure.ratio_row(f"{n} / hand", timings[n], bars.get(n)) for n in calls]
    rows += solve_rows(options, tolerance, own)
    rows.append(measure.Row("error of hand", predator_prey.error(hand()), "rel"))
    for name, call in calls.items():
        error = predator_prey.error(call())
        rows.append(measure.Row(f"error of {name}", error, "rel", bar=error_bars.get(name)))
    return rows


def solve_rows(options, tolerance, gradient):
    """O2: the gradient over numbad's own solve, and that over the hand-written one."""
    calls = {"gradient": gradient, "hand": predator_prey.hand_solve(tolerance)}
    solve = predator_prey.numbad_solve(tolerance)
    timings = measure.beside(solve, calls, samples=options.samples)
    return [
        measure.ratio_row("numbad / numbad's solve", timings["gradient"], GRADIENT_SOLVE_BAR),
        measure.Row("numbad's solve / hand's solve", 1.0 / timings["hand"].ratio),
    ]


def main():
    options = measure.options(__doc__)
    met = [
        measure.print_table("O1 Lorenz, over Tsit5 by hand", lorenz_rows(options)),
        measure.print_table("O1 Lorenz, time to error 1e-4", equal_error_rows(options)),
        measure.print_table("O1 Lorenz, to 1e-4, over DOP853 by hand", high_order_rows(options)),
    ]
    for tolerance in Gradient.params:
        title = f"O2 gradient of the Lotka-Volterra misfit, tolerance {tolerance:g}"
        met.append(measure.print_table(title, gradient_rows(options, tolerance)))
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main())

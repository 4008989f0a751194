"""The lynx-hare fit (O6): a compiled fit from the start to the optimum, beside hand and peers."""

from . import lynx_hare, measure

MILLISECONDS_BAR = 2.0
DIFFRAX_BAR = 4.0
SCIPY_BAR = 100.0


class LynxHare:
    """O6, one start, six unknowns on the log scale, tolerance 1e-8."""

    timeout = 300

    def setup(self):
        measure.pin()
        self.fit = lynx_hare.numbad()
        self.fit()

    def time_fit(self):
        self.fit()

    def track_ratio_to_hand(self):
        return measure.beside(lynx_hare.hand("trf"), {"own": self.fit})["own"].ratio

    def track_times_faster_than_scipy_rk45(self):
        return measure.beside(self.fit, {"peer": lynx_hare.scipy("RK45")})["peer"].ratio

    def track_error(self):
        return lynx_hare.error(self.fit())

    track_ratio_to_hand.unit = track_times_faster_than_scipy_rk45.unit = "ratio"
    track_error.unit = "relative"


def rows(options):
    """Every fit over the hand-written one under `lm`."""
    fits = {"numbad": lynx_hare.numbad(), "hand, trf": lynx_hare.hand("trf")}
    if not options.no_peers:
        fits |= lynx_hare.installed_peers()
    timings = measure.beside(lynx_hare.hand("lm"), fits, samples=options.samples)
    own = timings["numbad"]
    milliseconds, best = own.median * 1e3, own.best * 1e3
    table = [measure.Row("numbad, ms a fit", milliseconds, "ms", MILLISECONDS_BAR, best=best)]
    table += [measure.ratio_row(f"{name} / hand, lm", timings[name]) for name in fits]
    for name in fits:
        bar = DIFFRAX_BAR if "diffrax" in name else SCIPY_BAR if "SciPy RK45" in name else None
        if name != "numbad" and "hand" not in name:
            faster = timings[name].ratio / own.ratio
            table.append(measure.Row(f"{name} / numbad", faster, bar=bar, at_least=True))
    table += [measure.Row(f"error of {n}", lynx_hare.error(fits[n]()), "rel") for n in fits]
    return table


def main():
    options = measure.options(__doc__)
    return 0 if measure.print_table("O6 lynx-hare fit", rows(options)) else 1


if __name__ == "__main__":
    raise SystemExit(main())

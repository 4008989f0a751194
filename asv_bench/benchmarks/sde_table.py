"""The whole table of SDEs: `python -m asv_bench.benchmarks.sde_table`; exit status 1 where a bar is missed.

Rows of `sde`, `sde_peers` (torchsde and diffrax where installed) and `neural_sde`, then two threads over
one, the memory of many paths of which the mean alone is kept, and the time of a fit of the bill rate. The
speed on two threads is measured before the others, which are pinned to one core.
"""

import functools
import os

import numbad as nd

from . import imports, measure, neural_sde, peak_memory, sde, sde_peers

THREADS, MANY = 2, 1_000_000
THREADS_BAR, MEMORY_BAR, FIT_BAR = 1.8, 1.0, 30.0
START = {"kappa": 0.2, "theta": 0.05, "sigma": 0.05}
SCRIPT = "from asv_bench.benchmarks import sde_table\nprint(*sde_table.{call})"


@functools.cache
def _solver():
    return nd.sde.solver(sde._growth, sde._spread, dt=0.01)


def mean(threads, paths):
    """The price of a call under geometric Brownian motion, its paths spread over threads."""
    market = 100.0, (0.0, 1.0), (0.05, 0.2), sde.KEY
    return nd.sde.ensemble(_solver(), *market, paths, reduce=sde._payoff, executor=threads).mean


def speed_up(samples):
    """Time on one thread over time on `THREADS`: median and best."""
    one, several = (functools.partial(mean, k, 10 * sde.PATHS) for k in (1, THREADS))
    timing = measure.beside(several, {"one": one}, samples=samples)["one"]
    return timing.ratio, timing.best_ratio


class _Shorter:
    """What `peak_memory.of_call` compiles with."""

    @staticmethod
    def shorten(arguments):
        return *arguments[:-1], 1000


def memory(paths):
    """MiB that the mean over so many paths takes, and those of the result."""
    return peak_memory.of_call(_Shorter, mean, (1, paths))


def _in_new_process(call, variables=None):
    environment = imports.environment(imports.Path.home()) | (variables or {})
    said = imports.run("-c", SCRIPT.format(call=call), env=environment)
    return tuple(map(float, said.splitlines()[-1].split()))


def _bill_rate(samples):
    """The fit of the square-root model, once compiled, in milliseconds."""
    from numbad.data import load_us_tbill
    from numbad.sde import transitions

    fit = functools.partial(nd.fit.fit_sde, transitions.cir, *load_us_tbill(), START)
    timing = measure.beside(fit, {"again": fit}, samples=samples)["again"]
    return measure.Row(
        "bill rate, CIR: ms a fit", timing.median * 1e3, "ms", FIT_BAR, best=timing.best * 1e3
    )


def more_rows(samples, paths=MANY):
    """The rows that no other module has."""
    table = []
    if (os.cpu_count() or 1) >= THREADS:
        ratio, best = _in_new_process(f"speed_up({samples})")
        name = f"{THREADS} threads over one, faster"
        table.append(measure.Row(name, ratio, bar=THREADS_BAR, at_least=True, best=best))
    taken, _ = _in_new_process(f"memory({paths})", peak_memory.ENVIRONMENT)
    table.append(measure.Row(f"memory of {paths:,} paths, mean only", taken, "MiB", MEMORY_BAR))
    return [*table, _bill_rate(samples)]


def main():
    samples = measure.options(__doc__.splitlines()[0], one_core=False).samples
    whole = measure.print_table("SDEs: threads, memory, a fit", more_rows(samples))
    missed = [suite.main() for suite in (sde, sde_peers, neural_sde)]
    return max(*missed, 0 if whole else 1)


if __name__ == "__main__":
    raise SystemExit(main())

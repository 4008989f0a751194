"""Runs every benchmark: `python -m asv_bench.benchmarks`; exit status 1 where a bar is missed."""

from . import fit, forward, imports, ode, parallel, reverse


def main():
    return max([suite.main() for suite in (imports, forward, reverse, ode, fit, parallel)])


if __name__ == "__main__":
    raise SystemExit(main())

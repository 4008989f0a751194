"""Runs every benchmark: `python -m asv_bench.benchmarks`; exit status 1 where a bar is missed."""

from . import (
    cuda,
    elementary_functions,
    fit,
    forward,
    imports,
    ode,
    option_prices,
    parallel,
    point_loops,
    reverse,
    sde_table,
    solver_compile,
    sparse,
    stencils,
    steps_and_lists,
    stiff,
    stiff_peers,
    whole_arrays,
    word_table,
)


def main():
    suites = (
        imports,
        forward,
        reverse,
        whole_arrays,
        word_table,
        elementary_functions,
        sparse,
        ode,
        option_prices,
        point_loops,
        stencils,
        steps_and_lists,
        stiff,
        stiff_peers,
        solver_compile,
        sde_table,
        fit,
        parallel,
        cuda,
    )
    return max([suite.main() for suite in suites])


if __name__ == "__main__":
    raise SystemExit(main())

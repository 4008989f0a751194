"""Benchmarks of numbad, one layer a file; each also runs alone and prints its table.

`python -m asv_bench.benchmarks.forward` from the root of the repository, and the same for
`reverse`, `imports`, `ode` and `fit`; `python -m asv_bench.benchmarks` runs all of them.
"""

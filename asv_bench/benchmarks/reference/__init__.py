"""Problems, hand-written limits and reference values that the benchmarks compare with."""

"""Benchmarks of numbad, one layer a file; each also runs alone and prints its table.

`python -m asv_bench.benchmarks.forward` from the root of the repository, and the same for
`reverse`, `imports`, `ode` and `fit`; `python -m asv_bench.benchmarks` runs all of them.

BLAS has one thread here, whoever calls it: NumPy's, which reads this as it is loaded, would use the other
cores in calls by hand beside derivatives that run on one.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

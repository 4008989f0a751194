"""Optimisations of the adjoint, each of which can be switched off, for experiments and tests.

What is off stands in the environment variable `NUMBAD_REVERSE_OFF`, names with commas between them:
`NUMBAD_REVERSE_OFF=independent,seeded`. It is read when an adjoint is compiled, and is part of the
key under which compiled code is kept on disk.
"""

import os
from contextlib import contextmanager

from ..caching import SWITCHED_OFF
from ..errors import ArgumentError
from ..rules.registry import renew

SWITCHES = {
    "independent": "loops whose iterations meet only in a sum are reversed iteration by iteration",
    "seeded": "such loops add to the adjoints at once, where the adjoint of the sum is known before",
    "fused": "small terms of such sums are reversed at once even where nothing would be recorded",
    "invariants": "what is the same in every iteration of a loop is recorded once, outside of it",
    "counted": "loops over ranges that are known in the reverse sweep do not count",
    "updates": "the adjoint of an element that is only added to stays where it is",
    "evaluated": "derivatives use the functions' values that the primal has evaluated",
    "conditions": "the way through a branch follows from its condition, where that is at hand",
    "stack": "small new arrays of known size that do not leave the function lie on the stack",
    "rows": "a Jacobian's rows are pulled back several at a time",
    "pairs": "large callees that are called from several places are compiled once",
    "skip": "a loop within an iteration is not reversed where the adjoints of its results are zero",
    "selected": "of a loop that carries what an iteration has chosen, the last one to choose is reversed",
    "tables": "innermost loops over known ranges make room on the tape once",
    "unsigned": "indices that are known not to be negative are not wrapped around",
    "parallel": "parallel loops are reversed in parallel",
    "expressions": "array expressions that are used once are computed where they are used",
    "needed": "what is run again makes only what its reverse asks for",
    "stencils": "terms for neighbouring elements are added to the adjoints a block at a time",
    "stored": "what an array of the function's own holds is read there, not recorded",
    "replay": "loops that update arrays keep the state of an iteration and run it again",
}


def off():
    """The names of what is switched off."""
    names = {name.strip() for name in os.environ.get(SWITCHED_OFF, "").split(",")} - {""}
    wrong = sorted(names - SWITCHES.keys())
    if wrong:
        raise ArgumentError(
            f"{SWITCHED_OFF} names {wrong[0]!r}; there are {', '.join(sorted(SWITCHES))}"
        )
    return names


def enabled(name):
    return name not in off()


@contextmanager
def without(*names):
    """Within the block, adjoints are compiled without these optimisations."""
    before = os.environ.get(SWITCHED_OFF)
    os.environ[SWITCHED_OFF] = ",".join(sorted({*off(), *names}))
    renew()
    try:
        yield
    finally:
        if before is None:
            del os.environ[SWITCHED_OFF]
        else:
            os.environ[SWITCHED_OFF] = before
        renew()

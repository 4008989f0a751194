"""Many random programs, by hand, where processes can be forked.

    python -m tests.reverse.many FIRST LAST [--jobs N]

runs the programs with these numbers, `LAST` not among them, so that another run can go on; with
`--of classes` those of `class_programs`, over users' types, with `--of arrays` those of whole-array
statements, with `--of dictionaries` those about dictionaries. They are compared as in
`test_random_programs`: half of them with every optimisation, the others without one, each in its turn, a
number of programs at a time; every second one by one or two of its arguments alone. Failures are printed as
they come; a program alone is `random_program(number)`. At LLVM's lowest level, since time goes into
compiling what runs once.
"""

import argparse
import gc
import itertools
import multiprocessing
import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

if __name__ == "__main__":  # not where pytest looks for doctests
    os.environ.setdefault("NUMBA_OPT", "0")
    os.environ.setdefault("NUMBAD_CACHE_DIR", "off")

from numbad.reverse import switches
from tests.reverse import array_programs, classes, dictionary_programs, three_way
from tests.reverse.array_programs import random_array_program
from tests.reverse.class_programs import random_class_program
from tests.reverse.dictionary_programs import random_dictionary_program
from tests.reverse.programs import random_program

CHUNK = 30  # programs for one process, whose memory grows with each
WARM = 40  # programs that are run first, so that processes need not compile what all use
SECOND_ORDER = 32  # one program in so many


@dataclass
class Outcome:
    """What became of a chunk of programs."""

    tally: three_way.Tally = field(default_factory=three_way.Tally)
    failures: list = field(default_factory=list)

    def run(self, numbers, name):
        family = FAMILIES[name]
        for number in numbers:
            try:
                second = number % SECOND_ORDER == 0
                program = family.program(number)
                given = family.given(program).by_some(number)
                three_way.compare(program, self.tally, second, given)
            except Exception as error:  # whatever it is, the others are to run
                self.failures.append((number, f"{type(error).__name__}: {error}"))
        return self


def without(chunk):
    """What is switched off for a chunk: nothing for every second one."""
    names = list(switches.SWITCHES)
    return (names[chunk // 2 % len(names)],) if chunk % 2 else ()


@dataclass(frozen=True)
class Family:
    """Programs by number, and what they are called with."""

    program: Callable
    given: Callable


FAMILIES = {
    "plain": Family(random_program, lambda program: three_way.PLAIN),
    "arrays": Family(random_array_program, lambda program: array_programs.GIVEN),
    "classes": Family(random_class_program, classes.given),
    "dictionaries": Family(random_dictionary_program, lambda program: dictionary_programs.GIVEN),
}


def run_chunk(numbers, family):
    gc.disable()  # the process ends soon
    off = without(numbers.start // CHUNK)
    with switches.without(*off):
        return off, Outcome().run(numbers, family)


def chunks(first, last):
    """The numbers in ranges that begin at multiples of `CHUNK`, but for the first."""
    starts = [first, *range(CHUNK * (first // CHUNK + 1), last, CHUNK)]
    return itertools.starmap(range, itertools.pairwise([*starts, last]))


def main(first, last, jobs, family):
    """Run the programs; returns whether none failed."""
    warnings.simplefilter("ignore")
    Outcome().run(range(-WARM, 0), family)
    gc.collect()
    gc.freeze()  # children share the memory as long as nobody counts references anew
    total, failed, aside = Counter(), 0, Counter()
    try:
        for off, outcome in _outcomes(chunks(first, last), jobs, family):
            tally = outcome.tally
            total.update(passed=tally.passed, second=tally.second, refused=len(tally.refused))
            total.update(not_by_duals=tally.not_by_duals)
            aside.update(tally.aside)
            failed += len(outcome.failures)
            for number, text in outcome.failures:
                print(f"program {number} without {', '.join(off) or 'nothing'}: {text}", flush=True)
    except KeyboardInterrupt:
        print("interrupted; so far:")
    print(f"{dict(total)}, set aside: {dict(aside)}, failed: {failed}")
    return not failed


def _outcomes(ranges, jobs, family):
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        yield from pool.imap_unordered(partial(run_chunk, family=family), ranges)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--of", choices=FAMILIES, default="plain", help="what the programs are made of"
    )
    given = parser.parse_args()
    sys.exit(0 if main(given.first, given.last, given.jobs, given.of) else 1)

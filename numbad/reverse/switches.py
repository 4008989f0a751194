"""Optimisations of the adjoint, each of which can be switched off, for experiments and tests.

What is off stands in the environment variable `NUMBAD_REVERSE_OFF`, names with commas between them:
`NUMBAD_REVERSE_OFF=independent,seeded`. It is read when an adjoint is compiled, and is part of the
key under which compiled code is kept on disk.
"""

import os
from contextlib import contextmanager

from ..compilation.caching import SWITCHED_OFF
from ..errors import ArgumentError
from ..rules.registry import renew

SWITCHES = {}  # name -> what is done, in a line: the table of docs/reverse.md


class Switch:
    """An optimisation that can be switched off; it is made in the file of what it switches."""

    def __init__(self, name, done):
        self.name = name
        SWITCHES[name] = done

    def is_on(self):
        return enabled(self.name)


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


def table():
    """The rows of the table of switches in docs/reverse.md."""
    return [f"| `{name}` | {done} |" for name, done in sorted(SWITCHES.items())]


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

"""How a function is to be reversed, as its user or the target says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """`stack`: whether small arrays may lie on the machine stack; `snapshots`: how many states of a
    loop are kept at a time, None where that is left to the analysis; `shared`: whether other threads use
    other elements of the arrays meanwhile, so that none is changed or put back as a whole; `gathers`:
    whether terms may be put down before they are added."""

    stack: bool = True
    snapshots: int | None = None
    shared: bool = False
    gathers: bool = False

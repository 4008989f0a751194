"""Which share of what only deepens the tests runs: `NUMBAD_DEEP=1/4`, the second of four, or `all`.

That are the tests marked `deep`, and the second order of programs whose first order runs by default. Of the
tests marked `dear`, and of the examples in docs/ and in docstrings, a sixteenth runs in any case, another one
for each part.
"""

import os
import zlib

TURNS = 16
SHARE = os.environ.get("NUMBAD_DEEP", "none")
asked_by_name = (
    False  # whether the tests that run were asked for by name (`path::test`, `-k`, `-m`)
)


def in_share(name, share=SHARE):
    """Whether a test belongs to a share, `k/n`, `none` or `all`; the n shares together hold every test."""
    if share in ("none", "all"):
        return share == "all"
    part, parts = map(int, share.split("/"))
    return zlib.crc32(name.encode()) % parts == part % parts


def in_turn(name):
    """Whether a dear test or an example, of docs/ or of a docstring, belongs to the sixteenth that runs."""
    if SHARE == "all":
        return True
    part = 0 if SHARE == "none" else int(SHARE.partition("/")[0])
    return in_share(name, f"{part % TURNS}/{TURNS}")


def deepens():
    """Whether the test that runs now checks what only deepens it, too."""
    name, _, _ = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
    return asked_by_name or in_share(name)

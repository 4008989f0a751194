"""The limit of the tape's memory, as the environment says it."""

import os
import re

from ..errors import ArgumentError


def _physical_memory():
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 * 2**30  # no way to ask on this platform


def limit_from(text):
    """The limit in bytes that a value of `NUMBAD_TAPE_LIMIT` means; None: the default."""
    if text is None:
        return _physical_memory() // 4 * 3
    match = re.fullmatch(r"\s*(\d+)\s*([KMG]?)\s*", text, re.IGNORECASE | re.ASCII)
    size = int(match[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[match[2].upper()] if match else 0
    if not 0 < size < 2**62:
        raise ArgumentError(
            f"NUMBAD_TAPE_LIMIT is {text!r}; expected a positive number of bytes, "
            "which may end in K, M or G, as in '500M'"
        )
    return size

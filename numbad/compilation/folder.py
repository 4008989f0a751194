"""The folder of compiled code on disk: where it is, whom it belongs to, and how much it may hold.

Compiled code is kept as pickles, which run code as they are read. So a folder or an entry counts only
where nobody but the user can have written it: neither another owner nor others' right to write.

Entries that have gone unused the longest are deleted when there is more than `NUMBAD_CACHE_LIMIT`
allows. Processes may do so at the same time: an entry that has gone is one that is not there.
"""

import contextlib
import hashlib
import os
import re
import stat
import sys
import time
import uuid
import warnings
from pathlib import Path

from ..errors import CacheWarning

LIMIT = 2**30  # bytes, where the user names no other bound
ENTRY = ".nbc"  # what names of entries end in
_FILLED_TO = 0.9  # of the limit, when entries are deleted: it is not done for every entry
_LOOK = 0.05  # of the limit, after which a process that writes looks at the whole again
_ABANDONED = 3600.0  # seconds, after which an unfinished file belongs to a process that died
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}

_DIGEST = 16  # bytes before what an entry holds

_told = set()  # the folders and entries that the user was warned of
_held = {}  # folder -> the bytes that it holds, and those of them written since it was looked at


def cache_folder():
    """The folder for compiled code, or None where the cache is off."""
    chosen = os.environ.get("NUMBAD_CACHE_DIR")
    if chosen:
        return None if chosen == "off" else Path(chosen)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "numbad"


def limit():
    """How many bytes the folder may hold."""
    given = os.environ.get("NUMBAD_CACHE_LIMIT", "").strip()
    if not given:
        return LIMIT
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?", given.lower())
    if found is None:
        _warn(
            "NUMBAD_CACHE_LIMIT",
            f"NUMBAD_CACHE_LIMIT={given} is no number of bytes, such as 500M or 2G; 1G counts instead",
        )
        return LIMIT
    return int(float(found[1]) * _UNITS[found[2]])


# -- whom it belongs to ------------------------------------------------------------------------


def _warn(what, message):
    if what not in _told:
        _told.add(what)
        warnings.warn(message, CacheWarning, stacklevel=2)


def _doubt(found):
    """Why a folder or file is not to be trusted; None where it is the user's alone."""
    if not hasattr(os, "getuid"):  # Windows: the folders of a user's profile are the user's
        return None
    if found.st_uid != os.getuid():
        return f"belongs to user {found.st_uid}, not to you"
    if found.st_mode & _OTHERS_WRITE:
        return f"can be written by others (mode {stat.S_IMODE(found.st_mode):04o})"
    return None


def is_trusted(folder):
    """Whether compiled code may be read from a folder and kept there; warns, once, where not."""
    try:
        doubt = _doubt(os.stat(folder))
    except OSError:
        return True  # there is none yet
    if doubt is not None:
        own = "" if doubt.startswith("belongs") else f"chmod 700 {folder}, or "
        _warn(
            str(folder),
            f"compiled code is neither read from nor kept in {folder}, which {doubt}. Way out: "
            f"{own}name another folder by NUMBAD_CACHE_DIR",
        )
    return doubt is None


def read(path):
    """The bytes of an entry, from then on the latest used; none where there is no entry to trust."""
    try:
        with open(path, "rb") as file:
            doubt = _doubt(os.fstat(file.fileno()))
            data = b"" if doubt is not None else file.read()
    except OSError:
        return b""
    if doubt is not None:
        _warn(
            str(path.parent / ENTRY),
            f"compiled code in {path.parent} is not read where it {doubt}: {path.name}, say. Way out: "
            "numbad cache --clear",
        )
        return b""
    with contextlib.suppress(OSError):
        os.utime(path)
    digest, data = data[:_DIGEST], data[_DIGEST:]
    return data if digest == _digest(data) else b""


def _digest(data):
    """What stands before an entry: machine code with a flipped bit would end the process."""
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()


def write(path, data):
    """Keep an entry: readers see all of it or nothing. Raises OSError where that is not possible."""
    data = _digest(data) + data
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_trusted(path.parent):
        return
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex[:16]}")
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    _bound(path.parent, len(data))


def told(folder):
    """What the folder is and holds, for people."""
    if folder is None:
        return "compiled code is not kept on disk: NUMBAD_CACHE_DIR=off"
    known, mode = entries(folder), ""
    with contextlib.suppress(OSError):
        doubt = _doubt(os.stat(folder))
        mode = "" if doubt is None else f"\nit is not read: it {doubt}"
    held = sum(length for _, length, _ in known)
    return f"{folder}\n{len(known)} entries, {_bytes(held)} of at most {_bytes(limit())}{mode}"


def _bytes(count):
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GiB"


# -- how much it holds -------------------------------------------------------------------------


def entries(folder):
    """`(when last used, bytes, path)` of every entry, the longest unused first."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as inside:
        for one in inside:
            with contextlib.suppress(OSError):
                if one.name.endswith(ENTRY) and not one.name.startswith("."):
                    known = one.stat(follow_symlinks=False)
                    found.append((known.st_mtime, known.st_size, Path(one.path)))
    return sorted(found)


def size(folder):
    """The bytes of all entries."""
    return sum(length for _, length, _ in entries(folder))


def clear(folder):
    """Delete all entries, and what processes that died left half written; how many entries there were."""
    known = entries(folder)
    for *_, path in known:
        _delete(path)
    _delete_abandoned(folder, 0.0)
    _held.pop(folder, None)
    return len(known)


def _bound(folder, added):
    """Delete the entries that have gone unused the longest where there are too many bytes."""
    most = limit()
    held, since = _held.get(folder, (most, most))
    held, since = held + added, since + added
    if held > most or since > _LOOK * most:  # other processes fill it, too
        held, since = _shrink(folder, most), 0
    _held[folder] = held, since


def _shrink(folder, most):
    """Delete entries until there are no more bytes than that; the bytes that stay."""
    _delete_abandoned(folder, _ABANDONED)
    known = entries(folder)
    held = sum(length for _, length, _ in known)
    if held <= most:
        return held
    for _, length, path in known[:-1]:  # the latest is the one that was just written
        if held <= _FILLED_TO * most:
            break
        _delete(path)
        held -= length
    return held


def _delete(path):
    with contextlib.suppress(OSError):  # another process did, or holds it open on Windows
        path.unlink()


def _delete_abandoned(folder, age):
    before = time.time() - age
    for path in folder.glob(f".*{ENTRY}.*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime <= before:
                path.unlink()

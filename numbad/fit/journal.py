"""A record of finished starts that survives being killed at any moment.

JSON lines: first a header with the digests of the problem, then one line a finished start, each
written at once, flushed, and synced to the disk before the next is counted. A line is whole when it
ends in a newline; what follows the last newline is what a kill left behind and is dropped. Floats
are written by `repr`, which Python reads back to the same bits.
"""

import contextlib
import json
import os
import warnings
from dataclasses import asdict

from numbad.errors import DataError, NumbadWarning
from numbad.fit.local import LocalFit

FORMAT = 2


class Journal:
    """The journal of one problem, open for appending; a context manager.

    Raises `DataError` for a file that is no journal, or that of another problem; such a file is
    left as it is.
    """

    def __init__(self, path, digests):
        try:
            self.path = os.fspath(path)
        except TypeError:
            raise DataError(f"journal must be the path of a file, not {path!r}") from None
        self.header = {"numbad journal": FORMAT, **digests}
        self.finished = {}
        try:
            self.file = open(self.path, "a+b")  # noqa: SIM115 (closed by __exit__)
        except OSError as error:
            raise DataError(f"journal {self.path}: {error.strerror}") from error
        try:
            self._lock()
            self._read()
        except BaseException:
            self.file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.file.close()

    def append(self, fit):
        """Record a finished `LocalFit`; on return it is on the disk, or a warning has said that it is not.

        A disk that is full ends the journal and not the fit, whose estimates would be lost with it.
        """
        self.finished[fit.index] = fit
        if self.file.closed:
            return
        try:
            self._write({**asdict(fit), "cost": repr(fit.cost)})
        except OSError as error:
            with contextlib.suppress(
                OSError
            ):  # what is left in the buffer cannot be written either
                self.file.close()
            warnings.warn(
                f"journal {self.path}: {error.strerror}; the fit goes on, but if it is killed, a later "
                "run does not know the starts that finish from here on",
                NumbadWarning,
                stacklevel=2,
            )

    def _write(self, entry):
        self.file.write(json.dumps(entry, allow_nan=False).encode() + b"\n")
        self.file.flush()
        os.fsync(self.file.fileno())

    def _lock(self):
        try:
            import fcntl
        except ImportError:  # no such locks on this system
            return
        try:
            # Held by this process alone: worker processes that outlive a kill do not inherit it.
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(f"journal {self.path}: another running fit is writing it") from None
        except OSError:  # a file system without locks
            return

    def _read(self):
        self.file.seek(0)
        content = self.file.read()
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].splitlines()
        if not lines:
            start = json.dumps(self.header).encode()
            if not start.startswith(content):
                raise DataError(f"journal {self.path}: this file is not a journal of a fit")
            self.file.truncate(0)
            self._write(self.header)
            return
        self._check_header(lines[0])
        self.file.truncate(whole)
        for number, line in enumerate(lines[1:], start=2):
            fit = self._entry(number, line)
            self.finished[fit.index] = fit

    def _check_header(self, line):
        try:
            found = json.loads(line)
            version = found["numbad journal"]
        except (ValueError, TypeError, KeyError):
            raise DataError(f"journal {self.path}: this file is not a journal of a fit") from None
        if version != FORMAT:
            raise DataError(f"journal {self.path}: format {version}, this version reads {FORMAT}")
        differing = [part for part in self.header if found.get(part) != self.header[part]]
        if differing:
            raise DataError(
                f"journal {self.path} belongs to another fit: {', '.join(differing)} differ; "
                "give another file, or remove this one to start anew"
            )

    def _entry(self, number, line):
        try:
            entry = json.loads(line)
            entry["cost"] = float(entry["cost"])
            entry |= {name: tuple(entry[name]) for name in ("start", "values", "noise")}
            return LocalFit(**entry)
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"journal {self.path}, line {number}: damaged ({error})") from None

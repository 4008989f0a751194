"""The files that a fit leaves behind: tried before the work, written after it."""

import json

from numbad.errors import DataError


def prepare(directory, paths):
    """Make a directory and try that files can be written there, before a long fit is run for them.

    Raises `DataError` that names the directory or the file. Files that are there stay as they are; if
    the first path leads to one that is no fit, it is the user's.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"--out {directory}: no such directory can be made ({error.strerror})"
        ) from None
    if paths and paths[0].suffix == ".json" and not _may_be_replaced(paths[0]):
        raise DataError(
            f"{paths[0]} is there already, and is no fit of numbad's; move it, or name another directory "
            "by --out"
        )
    for path in paths:
        is_new = not path.exists()
        try:
            with path.open("ab"):
                pass
            if is_new:
                path.unlink()
        except OSError as error:
            raise _cannot_be_written(path, error) from None


def _may_be_replaced(path):
    """Whether there is no such file, or one that is empty or has an earlier fit."""
    if not path.is_file():
        return True
    try:
        text = path.read_text(encoding="utf-8")
        return not text or "numbad fit" in json.loads(text)
    except (OSError, ValueError, TypeError):
        return False


def write(result, paths, xlabel, **more):
    """Write a result into a JSON file and, if there is a second path, into a picture.

    `more` are further options of its `plot`.
    """
    try:
        paths[0].write_text(result.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        raise _cannot_be_written(paths[0], error) from None
    for path in paths[1:]:
        result.plot(path, title=path.stem, xlabel=xlabel, **more)


def _cannot_be_written(path, error):
    return DataError(f"{path}: cannot be written ({error.strerror})")

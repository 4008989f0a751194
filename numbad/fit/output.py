"""The files that a fit leaves behind: tried before the work, written after it."""

from numbad.errors import DataError


def prepare(directory, paths):
    """Make a directory and try that files can be written there, before a long fit is run for them.

    Raises `DataError` that names the directory or the file. Files that are there stay as they are.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"--out {directory}: no such directory can be made ({error.strerror})"
        ) from None
    for path in paths:
        is_new = not path.exists()
        try:
            with path.open("ab"):
                pass
            if is_new:
                path.unlink()
        except OSError as error:
            raise _cannot_be_written(path, error) from None


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

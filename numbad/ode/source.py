"""Functions written out as source: loops over stages and components unrolled."""

import linecache
from itertools import count

_NUMBER = count()


def function_from_source(head, lines, **names):
    """The Python function `def <head>:` with the body `lines`, which may use `names`."""
    text = f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)
    filename = f"<numbad.ode {head.split('(')[0]} {next(_NUMBER)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace = dict(names)
    exec(compile(text, filename, "exec"), namespace)
    return namespace[head.split("(")[0]]


def tuple_of(items):
    """The source of a tuple of the given sources."""
    return "(" + "".join(f"{item}, " for item in items) + ")"


def weighted_sum(weights, stages):
    """The source of sum weight * stage, the sources paired up."""
    return " + ".join(f"{weight} * {stage}" for weight, stage in zip(weights, stages, strict=True))

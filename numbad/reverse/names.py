"""Names of variables that both sweeps know."""

TAPE, TOP = "$tape", "$top"


def counter(header):
    """The name of a loop's counter of completed iterations."""
    return f"$count{header}"


def last(header):
    """The name of the number of the iteration that chose last what its loop carries."""
    return f"$last{header}"


def choice(label):
    """The name of the number of the edge by which a block was entered."""
    return f"$from{label}"


def shadow_name(leaf):
    return f"{leaf[0]}{''.join(f'.{k}' for k in leaf[1])}^"


def bar_name(leaf):
    return f"{leaf[0]}{''.join(f'.{k}' for k in leaf[1])}~"

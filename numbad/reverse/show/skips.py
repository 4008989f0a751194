"""The questions by which loops are skipped on the way back: are the adjoints of their results zero?"""

from . import formula as x


def asks_for_adjoints(condition, names):
    """Whether a condition is that adjoints are zero, which nothing else asks."""
    if condition.op != "binary":
        return False
    symbol, *sides = condition.parts
    if symbol == "and":
        return all(asks_for_adjoints(side, names) for side in sides)
    zero = symbol == "==" and sides[1] == x.text("0.0")
    return zero and sides[0].op == "name" and names.is_adjoint(sides[0].parts[0])


def join_questions(successors, lines, names):
    """Make one condition of questions that follow each other, in place."""
    changed = True
    while changed:
        changed = any(_join(n, successors, lines, names) for n in successors)


def _join(first, successors, lines, names):
    question = _question(lines[first], names)
    if question is None:
        return False
    second, otherwise = successors[first]
    following = _question(lines[second], names)
    alone = sum(second in out for out in successors.values()) == 1 and len(lines[second]) == 1
    if following is None or not alone or successors[second][1:] != [otherwise]:
        return False
    question.value = x.binary("and", question.value, following.value)
    successors[first] = list(successors[second])
    lines[second], successors[second] = [], []
    return True


def _question(lines, names):
    """The line at the end of a block that asks whether adjoints are zero, or None."""
    if lines and lines[-1].kind == "branch" and asks_for_adjoints(lines[-1].value, names):
        return lines[-1]
    return None

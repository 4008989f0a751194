"""Writes random programs about dictionaries of differentiated numbers.

A program has two dictionaries, which it fills, reads, goes through, copies, takes from and hands to
functions, in branches and loops; its keys are integers, texts or pairs.
"""

import random

from numba import njit

from tests.reverse.programs import Source
from tests.reverse.three_way import Given

KEYS = {
    "integers": ("0", "1", "2", "3"),
    "texts": ("'a'", "'b'", "'c'", "'d'"),
    "pairs": ("(0, 1)", "(1, 1)", "(2, 0)", "(5, 5)"),
}
NUMBERS = (
    *("s", "x * 0.7", "y * s", "0.5", "x - y", "2.0", "d.get({k}, s)", "e.get({k}, 0.3)"),
    "d[{k}] * 0.5 if {k} in d else x",
)
STATEMENTS = {  # `{d}` is a dictionary, `{k}`, `{j}` are keys, `{v}` is a number
    "store": "{d}[{k}] = {v}",
    "change": "if {k} in {d}:\n    {d}[{k}] = {d}[{k}] * {v}\nelse:\n    {d}[{k}] = {v}",
    "add": "if {k} not in {d}:\n    {d}[{k}] = {v}\n{d}[{k}] += {v}",
    "pop": "s += {d}.pop({k}, {v}) * 0.5",
    "values": "for v in {d}.values():\n    s = s * 0.6 + v * {v} * 0.4",
    "items": "for k, v in {d}.items():\n    s += v * v * 0.3",
    "default": "s += {d}.setdefault({k}, {v}) * 0.7",
    "update": "d.update(e)",
    "copy": "e = d.copy()",
    "keys": "for k in {d}:\n    s += {d}[k] * 0.4",
    "last": "if len({d}) > 1:\n    k, v = {d}.popitem()\n    s += v * 0.9",
    "callee": "change({d}, {k}, s)",
    "other name": "g = {d}\ng[{k}] = {v}\ns += g[{k}] * 0.5",
    "delete": "if {k} in {d}:\n    del {d}[{k}]",
    "size": "s += size({d}) * y * 0.1",
    "total": "s += total({d}) * 0.2",
    "clear": "if {d}:\n    s += total({d}) * 0.3\n    {d}.clear()",
    "literal": "d = {{{k}: s, {j}: {v}}}",
    "comprehension": "e = {{k: v * 0.5 for k, v in {d}.items()}}",
}


@njit
def change(d, k, s):
    if k in d:
        d[k] += s * s * 0.1
    else:
        d[k] = s * 0.3


@njit
def total(d):
    t, w = 0.0, 1.0
    for v in d.values():
        t += v * w
        w *= 0.7
    return t


@njit
def size(d):
    return len(d) * 1.5


NAMES = {"change": change, "total": total, "size": size}
GIVEN = Given("x, y", lambda: (0.713, -0.417), (0, 1), NAMES)


class DictionaryWriter:
    """Writes one program with so many statements."""

    def __init__(self, draw, budget):
        self.draw, self.budget = draw, budget
        self.keys = draw.choice(list(KEYS.values()))
        self.lines, self.used = [], set()

    def write(self):
        first, second, third, _ = self.keys
        self.lines += ["def program(x, y):", f"    d = {{{first}: x, {second}: {self._number()}}}"]
        self.lines += [f"    e = {{{third}: y}}", "    s = x * 0.5"]
        for _ in range(self.budget):
            self._statement(1)
        self.lines.append("    return s + total(d) + total(e) * x")
        return Source("\n".join(self.lines) + "\n", frozenset(self.used))

    def _statement(self, depth):
        if depth < 3 and self.draw.random() < 0.15:
            header = self.draw.choice([f"for i{depth} in range(2):", "if s > {v}:"])
            self._put(depth, header)
            for _ in range(2):
                self._statement(depth + 1)
            return
        name = self.draw.choice(list(STATEMENTS))
        self.used.add(name)
        self._put(depth, STATEMENTS[name])

    def _put(self, depth, text):
        several = {"d": self.draw.choice("de"), "k": self._key(), "j": self._key()}
        for line in text.format(v=self._number(), **several).split("\n"):
            self.lines.append("    " * depth + line)

    def _key(self):
        return self.draw.choice(self.keys)

    def _number(self):
        if len(self.lines) < 4:  # there are no dictionaries yet
            return self.draw.choice(["1.5", "y", "x * y"])
        return self.draw.choice(NUMBERS).format(k=self._key())


def random_dictionary_program(seed):
    """The program of a seed."""
    draw = random.Random(seed)
    return DictionaryWriter(draw, draw.randint(4, 8)).write()

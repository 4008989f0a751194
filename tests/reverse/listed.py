"""Runs the sweeps of a listing, so that what a reader is told can be compared with a derivative.

The text is read by its documented rules alone: names with dots, `@` and `%` are variables, `record`
and `reload` push and pop, `record@12` and `reload@12` on a stack of their own, every adjoint starts at
zero, arguments' arrays have arrays as adjoints, `go to` goes on behind a label, into a loop too.
"""

import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import numpy as np


@dataclass
class Statement:
    """A line, and the lines that are indented below it."""

    text: str
    below: list = field(default_factory=list)


def run(listing, arguments, seed=1.0, namespace=None):
    """`(value, {argument: adjoint})` by the sweeps of a listing; `arguments` maps names to values."""
    start = listing.index("\nforward sweep\n")
    text = listing[start:].replace("\nforward sweep\n", "\n").replace("\nreverse sweep\n", "\n")
    lines = [line for line in map(_python, text.splitlines()) if line.strip()]
    machine = Machine(_tree(lines), _Variables(_tools(lines), seed=seed, **(namespace or {})))
    shadows = {name: _zeros_like(value) for name, value in arguments.items()}
    for name, value in arguments.items():
        machine.variables[name] = np.copy(value) if isinstance(value, np.ndarray) else value
        machine.variables[f"{name}_bar"] = shadows[name]
    value, adjoints = machine.run()
    arrays = {k: v for k, v in shadows.items() if isinstance(v, np.ndarray)}
    return value, dict(zip(arguments, adjoints, strict=True)) | arrays


# -- variables ---------------------------------------------------------------------------------


class _Members(dict):
    """The adjoints of a tuple's members."""

    def __missing__(self, number):
        return 0.0


class _Variables(dict):
    """Adjoints start at zero."""

    def __missing__(self, name):
        if "_bar" not in name:
            raise KeyError(name)
        return self.setdefault(name, _Members()) if name in self["with_members"] else 0.0


def _tools(lines):
    kept = []
    return {
        "np": np,
        "math": math,
        "prange": range,
        "tape": defaultdict(list),
        "zeros_like": _zeros_like,
        "keep": lambda array: kept.append(array.copy()),
        "put_back": lambda array: array.__setitem__(..., kept.pop()),
        "copy": np.copy,
        "conj": np.conj,
        "dtype": np.float64,
        "with_members": _with_members("\n".join(lines)),
        "grow": lambda items, n: items.extend([0.0] * (n - len(items))),
        "first_equal": lambda answer, values: list(values).index(answer),
        "wrapped": lambda i, n: i + n if i < 0 else i,
        "from_start": lambda i, n: i + n if i < 0 else i,
    }


def _zeros_like(value):
    if isinstance(value, np.ndarray):
        return np.zeros_like(value)
    return [0.0] * len(value) if isinstance(value, tuple) else 0.0


def _with_members(code):
    """The adjoints that are given values by members alone."""
    members = re.findall(r"\b(\w+_bar\w*)\[\d+\] [+-]?=", code)
    return {name for name in members if not re.search(rf"\b{name} =", code)}


# -- text --------------------------------------------------------------------------------------


def _python(line):
    """A line of a listing with names and the tape as Python has them."""
    code = line.partition("    #")[0].rstrip() if line.strip()[:1] not in ("#", "") else ""
    code = re.sub(r"%(bar)?(\d+)", r"unnamed_\1\2", code)
    code = re.sub(r"\b([A-Za-z_]\w*)@(\d+)", r"\1_at_\2", code)
    code = re.sub(r"\b([A-Za-z_]\w*)\.(\d+)\b", r"\1_version_\2", code)
    return re.sub(r"^( *)reload(\S*) (.*)$", r"\1(\3,) = tape['\2'].pop()", code)


def _tree(lines):
    """Statements by indentation."""
    top = []
    stack = [(4, top)]
    for line in lines:
        depth = len(line) - len(line.lstrip())
        while depth < stack[-1][0]:
            stack.pop()
        if depth > stack[-1][0]:
            stack.append((depth, stack[-1][1][-1].below))
        stack[-1][1].append(Statement(line.strip()))
    return top


# -- execution ---------------------------------------------------------------------------------


class _GoError(Exception):
    pass


class _BreakError(Exception):
    pass


class _ContinueError(Exception):
    pass


class _ReturnError(Exception):
    pass


@cache
def _compiled(text, mode):
    return compile(text, "listing", mode)


class Machine:
    """Runs a tree of statements; labels may be gone to from anywhere."""

    def __init__(self, tree, variables):
        self.tree, self.variables = tree, variables

    def run(self):
        """What is returned."""
        try:
            self._block(self.tree)
        except _ReturnError as end:
            return end.args[0]
        raise AssertionError("the listing does not return")

    def _find(self, statements, label):
        for k, statement in enumerate(statements):
            if statement.text == label:
                return [k]
            inner = self._find(statement.below, label)
            if inner:
                return [k, *inner]
        return None

    def _eval(self, text):
        return eval(_compiled(text, "eval"), {}, self.variables)

    def _block(self, statements, path=None):
        """Run statements, from the place that a path of positions says."""
        k, *inner = path or [0]
        while k < len(statements):
            try:
                self._statement(statements, k, inner)
            except _GoError as jump:
                found = self._find(statements, f"label {jump.args[0]}:")
                if found is None:
                    raise
                k, *inner = found
                continue
            inner = None
            k += 1
            while k < len(statements) and statements[k].text.startswith(("elif ", "else:")):
                k += 1

    def _statement(self, statements, k, inner):
        text = statements[k].text
        if text.startswith(("if ", "elif ", "else:")):
            self._if(statements, k, inner)
        elif text.startswith(("while ", "for ")):
            self._loop(statements, k, inner)
        elif text.startswith("go to "):
            raise _GoError(text.removeprefix("go to "))
        elif re.match(r"record\S* ", text):  # what an iteration has not set is recorded too
            where, _, names = text.removeprefix("record").partition(" ")
            values = tuple(map(self.variables.get, names.split(", ")))
            self.variables["tape"][where].append(values)
        elif text.startswith("return "):
            raise _ReturnError(self._eval(text.removeprefix("return ")))
        elif text in _JUMPS:
            raise _JUMPS[text]
        elif not text.startswith("label "):
            exec(_compiled(text, "exec"), {}, self.variables)

    def _if(self, statements, k, inner):
        if inner:
            self._block(statements[k].below, inner)
            return
        while k < len(statements):
            word, _, condition = statements[k].text.rstrip(":").partition(" ")
            if word not in ("if", "elif", "else"):
                return
            if word == "else" or self._eval(condition):
                self._block(statements[k].below)
                return
            k += 1
            if k < len(statements) and statements[k].text.startswith("if "):
                return

    def _loop(self, statements, k, inner):
        head, body = statements[k].text.rstrip(":"), statements[k].below
        try:
            if head.startswith("while "):
                while inner or self._eval(head.removeprefix("while ")):
                    self._iteration(body, inner)
                    inner = None
            else:
                assert not inner, "a jump into a for loop"
                index, _, over = head.removeprefix("for ").partition(" in ")
                for value in self._eval(over):
                    self.variables[index] = value
                    self._iteration(body)
        except _BreakError:
            return
        if k + 1 < len(statements) and statements[k + 1].text == "else:":
            self._block(statements[k + 1].below)

    def _iteration(self, body, inner=None):
        try:
            self._block(body, inner)
        except _ContinueError:
            return


_JUMPS = {"break": _BreakError(), "continue": _ContinueError()}

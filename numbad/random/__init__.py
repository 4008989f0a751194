"""Random numbers that are functions of a key and a number: the same in any order, thread and program."""

from numbad.random.keys import fold_in, key, split
from numbad.random.sampling import normal, normals, uniform, uniforms

__all__ = ["fold_in", "key", "normal", "normals", "split", "uniform", "uniforms"]

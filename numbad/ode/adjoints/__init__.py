"""Reverse mode through a solution: what the steps are recorded for, and how they are gone back through."""

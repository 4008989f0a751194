"""What pytest leaves alone here: what needs packages that a process of its own imports."""

collect_ignore = ["crop.py", "jax_values.py", "samples"]

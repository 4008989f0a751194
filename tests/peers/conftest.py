"""What pytest leaves alone here: the module that loads JAX, which a process of its own imports."""

collect_ignore = ["jax_values.py"]

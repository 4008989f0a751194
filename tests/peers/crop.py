"""The compiled functions of a crop model (aquagrid), which stand in no module until they are loaded."""

from aquagrid.kernels.loader import load_kernels

globals().update(load_kernels("cpu"))

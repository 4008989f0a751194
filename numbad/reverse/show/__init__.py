"""Generated sweeps as text: control flow, names, expressions, simplification, layout."""

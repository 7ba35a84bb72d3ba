"""Counterexamples: `run` is what Z3 found in a small world, `text` puts it in words, `trace` writes it to a file."""

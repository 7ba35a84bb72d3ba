"""Validation of traces of the pruning protocol: `PruningPart`, a part whose broker is held against the plain model.

What the core's messages and tables say is read by the modules above; here is what they say more (`meant`, `tables`),
and the replay (`replay`) by the handlers of `model/pruning.py` themselves (`judge`). Nothing of it runs for traces of
the core.
"""

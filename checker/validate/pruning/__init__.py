"""Validation of traces of the pruning protocol: `PruningPart`, a part whose broker is held against the plain model.

What the core's messages and tables say is read by the modules above; here is what they say more (`meant`, `tables`),
and the replay (`replay`) by the handlers of `model/pruning.py` themselves (`judge`). Nothing of it runs for traces of
the core.

Then similarity, which no broker sees alone. Of each step that was accepted a part sets aside (`minuted`) who took which
publication, what databases noted and what was decided (`noted`). `standing` is who was subscribed when, `ways` brings
the copies of a publication together, `shares` the rows of a subscription and what brokers did with its withdrawal.
`apart` is all of it where one process read the trace, `reported` what is said in the end.
"""

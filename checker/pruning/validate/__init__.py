"""Validation of traces of the pruning protocol.

`messages` and `tables` read what pruning adds to messages and snapshots of the core, `model` has the handlers of
`model/pruning/` with memoised relations, and `replay` holds one broker's events against them.

Similarity concerns several brokers. A part writes accepted steps into a `notebook`: copies and rows of publications,
and decisions about withdrawals. `standing` says which subscriptions stood when, `ways` brings the copies of a
publication together, `shares` the rows of a subscription with the decisions about it. `similarity` is the local
engine's judgement and the report, `spark` the same judgement in workers.
"""

from __future__ import annotations

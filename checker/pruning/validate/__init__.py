"""Validation of traces of the pruning protocol.

`messages` reads what pruning adds to messages and snapshots of the core, `model` has the handlers of
`model/pruning/` with memoised relations, and `replay` holds one broker's events against them.

Similarity concerns several brokers. A part writes accepted steps into a `notebook`: copies and rows of publications,
and decisions about withdrawals. `ways` says which subscriptions stood when and brings the copies of a publication
together, `shares` the rows of a subscription with the decisions about it. `similarity` has the stages, which every
engine runs, and the report.
"""

from __future__ import annotations

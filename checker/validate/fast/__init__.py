"""The model replayed fast: `Replica` answers as `Routing` does, at the cost of what matches and not of the whole table.

`model/routing.py` was written to be read. A trace has millions of steps at tables of thousands of subscriptions, so
here the model's sets are bit sets: `Universe` numbers the subscriptions of all brokers and knows which of them an event
matches or a filter covers; `Knowledge` is one broker's tables as masks of these numbers; `Replica` runs the model's own
handlers on that. Read them in this order: `bits`, `buckets`, `index`, `universe`, `knowledge`, `replica`;
`publications` is a cache. docs/decisions/0011 gives the reasons, and how all this is held to the model.
"""

from __future__ import annotations

from routeproof.checker.validate.fast.knowledge import Knowledge
from routeproof.checker.validate.fast.replica import Replica
from routeproof.checker.validate.fast.universe import Universe

__all__ = ["Knowledge", "Replica", "Universe"]

"""The model replayed fast: `Replica` says what `Routing` says, and pays for what matches and not for the whole table.

`model/routing.py` was written to be read. A trace has millions of steps at tables of thousands of subscriptions, so
here the model's sets are bit sets: `Universe` numbers the subscriptions that it is shown and knows, for all brokers
together, which of them an event matches or a filter covers; `Knowledge` is one broker's tables as masks of these
numbers; `Replica` runs the model's own handlers on that. Read them in this order: `bits`, `ranges`, `groups`,
`event_sets`, `buckets`, `predicates` (the indexes), `answers`, `register`, `universe`, `knowledge`, `settling`,
`publishing`, `replica`. docs/decisions/0011 says why, and how all this is held to the model.
"""

from routeproof.checker.validate.replica.knowledge import Knowledge
from routeproof.checker.validate.replica.replica import Replica
from routeproof.checker.validate.replica.universe import Universe

__all__ = ["Knowledge", "Replica", "Universe"]

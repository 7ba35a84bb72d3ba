"""All theorems of the theory, in the order in which they are reported: the routing core's, then those of each protocol
on top of it. Bounded theorems come last.
"""

from __future__ import annotations

from routeproof.spec.specifications import specifications
from routeproof.spec.theory.filters.theorems import FILTER_THEOREMS
from routeproof.spec.theory.invariants.bounded import BOUNDED_THEOREMS as BOUNDED_OF_ROUTING
from routeproof.spec.theory.invariants.bounded import BoundedTheorem
from routeproof.spec.theory.invariants.theorems import ROUTING_THEOREMS
from routeproof.spec.theory.proof import Theorem
from routeproof.spec.theory.propagation.theorems import PROPAGATION_THEOREMS

_OF_PROTOCOLS = tuple(theorem for specification in specifications() for theorem in specification.theorems())

THEOREMS: dict[str, Theorem] = {
    theorem.id: theorem
    for theorem in (
        *FILTER_THEOREMS,
        *ROUTING_THEOREMS,
        *PROPAGATION_THEOREMS,
        *(each for each in _OF_PROTOCOLS if isinstance(each, Theorem)),
    )
}

BOUNDED_THEOREMS: tuple[BoundedTheorem, ...] = (
    *BOUNDED_OF_ROUTING,
    *(each for each in _OF_PROTOCOLS if isinstance(each, BoundedTheorem)),
)

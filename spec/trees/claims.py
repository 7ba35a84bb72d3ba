"""Claims of 003 about the switch between routing strategies, with their outcomes."""

from __future__ import annotations

from routeproof.spec.specification import Claim

TREE_CLAIMS: tuple[Claim, ...] = ()

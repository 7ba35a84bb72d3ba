"""The wing of migration."""

from __future__ import annotations

from routeproof.checker.wings import Wing

WING = Wing()

"""The protocols that have a naive search."""

from tests.migration.naive import Migration
from tests.naive.instances import Instance
from tests.naive.routing import Routing
from tests.pruning.naive import Pruning

SYSTEMS = {"routing": Routing, "pruning": Pruning, "migration": Migration}


def system(instance: Instance, policy: str) -> Routing:
    return SYSTEMS[instance.protocol](instance, policy)

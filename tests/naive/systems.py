"""The protocols that have a naive search."""

from tests.naive.instances import Instance
from tests.naive.routing import Routing
from tests.pruning.naive import Pruning

SYSTEMS = {"routing": Routing, "pruning": Pruning}


def system(instance: Instance, policy: str) -> Routing:
    return SYSTEMS[instance.protocol](instance, policy)

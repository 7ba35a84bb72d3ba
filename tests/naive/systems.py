"""The protocols that have a naive search."""

from tests.migration.naive import Migration
from tests.naive.instances import Instance
from tests.naive.routing import Routing
from tests.pruning.naive import Pruning
from tests.trees.naive import Trees

SYSTEMS = {"routing": Routing, "pruning": Pruning, "migration": Migration, "trees": Trees}


def system(instance: Instance, policy: str) -> Routing:
    return SYSTEMS[instance.protocol](instance, policy)

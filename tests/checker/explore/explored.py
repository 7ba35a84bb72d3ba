"""The full search of each instance, made once for all tests of the process that assert something of it.

`tests/conftest.py` gives the files that share it to one worker.
"""

from functools import cache

from routeproof.checker.evaluation import Result
from routeproof.checker.explore import explore
from routeproof.checker.instances import find
from routeproof.model.protocols import world


@cache
def full_search(name: str, policy: str, mutant: str | None = None, max_states: int | None = None) -> Result:
    return explore(world(find(name), policy, mutant), max_states=max_states)

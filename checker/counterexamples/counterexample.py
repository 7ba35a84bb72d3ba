"""The header of a counterexample, which holds enough to make its run happen again."""

from __future__ import annotations

from attrs import frozen

from routeproof.checker.system.errors import UsageError, unknown
from routeproof.model.instance import Instance
from routeproof.model.instance_file import InstanceError, parse_instance
from routeproof.model.protocols import MUTANTS, policies_for
from routeproof.model.protocols import world as world_of
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES, Property
from routeproof.traces import Header, TraceError
from routeproof.traces.fields import Raw, name, names, table, text

ACTIONS = 10_000
"""The longest run. The fuzzer's have some hundred steps."""


@frozen
class Counterexample:
    """A run and the claim about its end."""

    world: World
    run: tuple[str, ...]
    property: Property | None
    """The property that the header claims to fail (or, of a `sometimes`, to be reached) in the last state."""
    why: str = ""


CLAIMED = ("actions", "violation", "witness")
"""Keys of a header that make a trace a counterexample. A recorded run may have `instance` as well."""


def is_counterexample(header: Header) -> bool:
    """True if the header claims a run of actions or what it shows. Any other trace is a recorded run."""
    return any(key in header.more for key in CLAIMED)


def read_counterexample(header: Header, where: str) -> Counterexample:
    """The world and the run; `where` names the file in messages."""
    if not is_counterexample(header):
        raise UsageError(
            f"{where}: a recorded run, and no counterexample: its header has no actions; expected a trace written by"
            " routeproof check --traces"
        )
    more = header.more
    try:
        instance = parse_instance(table('"instance"', more.get("instance")), f"{where}: instance")
        world = _world(header, instance)
        run = names(more, "actions", ACTIONS)
        named = next((table(f'"{key}"', more[key]) for key in ("violation", "witness") if key in more), None)
        return Counterexample(world, run, *_named(named))
    except TraceError as error:
        raise UsageError(f"{where}: header: {error}") from None
    except InstanceError as error:
        raise UsageError(str(error)) from None


def _world(header: Header, instance: Instance) -> World:
    mutant = None if header.more.get("mutant") is None else name(header.more, "mutant")
    known = policies_for(instance)
    if header.policy not in known:
        raise unknown("policy", header.policy, known)
    mutants = [m.id for m in MUTANTS.values() if m.protocol == instance.protocol]
    if mutant is not None and mutant not in mutants:
        raise unknown("mutant", mutant, mutants)
    return world_of(instance, header.policy, mutant)


def _named(raw: Raw | None) -> tuple[Property | None, str]:
    if raw is None:
        return None, ""
    id = name(raw, "property")
    if id not in PROPERTIES:
        raise unknown("property", id, PROPERTIES)
    return PROPERTIES[id], text(raw, "why")

"""`routeproof list`: lists every kind of name that another command takes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable

from attrs import asdict

from routeproof.checker.cli.arguments import Parser, one_of
from routeproof.checker.instances import shipped
from routeproof.checker.system.errors import missing_package
from routeproof.checker.system.terminal import say, wrapped
from routeproof.impl.workloads import WORKLOADS, parameters
from routeproof.model.protocols import DEFINITIONS, MUTANTS, all_policies
from routeproof.spec.claims import CLAIMS
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.rules import RULES

Row = dict[str, object]

DESCRIPTION = """\
List the names that other commands take: protocols, properties, rules, instances, mutants, ...
With --json: {KIND: [one object for each name]}."""
EXAMPLES = """\
  routeproof list instances
  routeproof list mutants --json"""


def parser() -> Parser:
    p = Parser("list", DESCRIPTION, EXAMPLES)
    kinds = f"one of {', '.join(KINDS)}; without KIND, list the kinds"
    p.add_argument("kind", metavar="KIND", nargs="?", type=one_of(KINDS, "kind"), help=kinds)
    p.add_argument("--json", action="store_true", help="print all fields as JSON")
    return p


def run(arguments: argparse.Namespace) -> int:
    if arguments.kind is None:
        return _list_kinds(arguments.json)
    rows_of, columns_of = KINDS[arguments.kind]
    rows = rows_of()
    if arguments.json:
        say(json.dumps({arguments.kind: rows}, indent=2))
    else:
        say("\n".join(wrapped([columns_of(row) for row in rows])))
    return 0


def _list_kinds(as_object: bool) -> int:
    """Lists the kinds, each with its number of names."""
    counts = {kind: _count(rows_of) for kind, (rows_of, _) in KINDS.items()}
    rows = [[kind, "needs another package" if count is None else f"{count:,}"] for kind, count in counts.items()]
    say(json.dumps({"kinds": counts}, indent=2) if as_object else "\n".join(wrapped(rows)))
    return 0


def _count(rows_of: Callable[[], list[Row]]) -> int | None:
    """Returns the number of names, or None if listing them needs a package of an extra that is not installed."""
    try:
        return len(rows_of())
    except ModuleNotFoundError as error:
        if missing_package(error) is None:
            raise
        return None


# -- rows and columns of each kind -------------------------------------------------------------------------------------


def _protocols() -> list[Row]:
    return [
        {"id": name, "policies": list(definition.policies), "about": definition.about}
        for name, definition in DEFINITIONS.items()
    ]


def _properties() -> list[Row]:
    return [
        {"id": p.id, "kind": p.kind, "over": p.over, "policies": list(p.policies), "about": p.about}
        for p in PROPERTIES.values()
    ]


def _rules() -> list[Row]:
    return [asdict(rule) for rule in RULES.values()]


def _claims() -> list[Row]:
    return [asdict(claim) for claim in CLAIMS.values()]


def _instances() -> list[Row]:
    return [
        {
            "name": instance.name,
            "protocol": instance.protocol,
            "policies": list(instance.policies),
            "brokers": len(instance.overlay.brokers),
            "advertisements": len(instance.advertisers),
            "subscriptions": len(instance.subscribers),
            "publications": len(instance.publications),
            "faults": asdict(instance.faults),
            "must_reach": list(instance.must_reach),
            "must_fail": list(instance.must_fail),
            "about": instance.about,
        }
        for instance in shipped()
    ]


def _mutants() -> list[Row]:
    return [
        {"id": m.id, "protocol": m.protocol, "rule": m.rule, "policies": list(m.policies), "about": m.about}
        for m in MUTANTS.values()
    ]


def _workloads() -> list[Row]:
    return [
        {"name": name, "about": recipe.about, "parameters": [asdict(each) for each in parameters(recipe)]}
        for name, recipe in WORKLOADS.items()
    ]


def _theorems() -> list[Row]:
    from routeproof.checker.prove.catalogue import THEOREMS
    from routeproof.checker.prove.report import described  # Z3 is loaded only for this kind

    return [described(theorem) for theorem in THEOREMS.values()]


def _experiments() -> list[Row]:
    from routeproof.checker.experiments.reproduce import (
        experiments,  # with the simulator and all that it runs
    )

    return [
        {"id": name, "figure": each.figure, "scale": each.scale, "about": each.about, "assumptions": each.assumptions}
        for name, each in experiments().items()
    ]


# -- what of it fits on a line -----------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Callable[[], list[Row]], Callable[[Row], list[str]]]] = {
    "protocols": (_protocols, lambda row: [str(row["id"]), f"{row['about']} Policies: {_under(row)}."]),
    "properties": (_properties, lambda row: [str(row["id"]), str(row["kind"]), f"{row['about']} {_unless_all(row)}"]),
    "rules": (_rules, lambda row: [str(row["id"]), str(row["protocol"]), str(row["title"])]),
    "instances": (
        _instances,
        lambda row: [str(row["name"]), str(row["protocol"]), f"{row['brokers']} brokers", str(row["about"])],
    ),
    "mutants": (_mutants, lambda row: [str(row["id"]), str(row["rule"]), f"{row['about']} {_unless_all(row)}"]),
    "claims": (
        _claims,
        lambda row: [str(row["id"]), str(row["verdict"]), f"{row['says']} [{row['property']}]{_mended(row)}"],
    ),
    "theorems": (_theorems, lambda row: [str(row["id"]), str(row["about"])]),
    "experiments": (_experiments, lambda row: [str(row["id"]), str(row["figure"]), str(row["about"])]),
    "workloads": (_workloads, lambda row: [str(row["name"]), str(row["about"])]),
}


def _mended(row: Row) -> str:
    """Repair of a claim that fails: what holds in its place."""
    repair = CLAIMS[str(row["id"])].repair
    if repair is None:
        return ""
    changes = [f"{key} = {json.dumps(value)}" for key, value in repair.readings.items()]
    changes += [f"policy {repair.policy}"] if repair.policy else []
    instead = [*changes, *([repair.holds] if repair.holds else [])]
    return f" Instead: {', '.join(instead)}." if instead else " No repair."


def _under(row: Row) -> str:
    policies = row["policies"]
    return ", ".join(policies) if isinstance(policies, list) else ""


def _unless_all(row: Row) -> str:
    """Most are for every policy, of their protocol or at all; what is not says so."""
    own = DEFINITIONS[str(row["protocol"])].policies if "protocol" in row else all_policies()
    return "" if row["policies"] == list(own) else f"[{_under(row) or 'a claim that fails'}]"

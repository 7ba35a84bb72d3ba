"""`routeproof list`: what there is, by name. Everything that another command takes as a name is listed here."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from inspect import cleandoc

from attrs import asdict

from routeproof.checker.arguments import Parser, one_of
from routeproof.checker.instances import shipped
from routeproof.checker.report.columns import wrapped
from routeproof.checker.terminal import say
from routeproof.impl.workloads import WORKLOADS, parameters
from routeproof.model.mutants import MUTANTS
from routeproof.model.protocols import ALL_POLICIES, POLICIES_OF, PROTOCOLS
from routeproof.spec.claims import CLAIMS
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.rules import RULES

Row = dict[str, object]

DESCRIPTION = """\
List what there is, in the order in which it is reported; with --json as {KIND: [one object each]}."""
EXAMPLES = """\
  routeproof list instances
  routeproof list mutants --json"""


def parser() -> Parser:
    p = Parser("list", DESCRIPTION, EXAMPLES)
    p.add_argument("kind", metavar="KIND", type=one_of(KINDS, "kind"), help=f"one of {', '.join(KINDS)}")
    p.add_argument("--json", action="store_true", help="everything there is to say, as JSON")
    return p


def run(arguments: argparse.Namespace) -> int:
    rows_of, columns_of = KINDS[arguments.kind]
    rows = rows_of()
    if arguments.json:
        say(json.dumps({arguments.kind: rows}, indent=2))
    else:
        say("\n".join(wrapped([columns_of(row) for row in rows])))
    return 0


# -- what is said of each ----------------------------------------------------------------------------------------------


def _protocols() -> list[Row]:
    return [
        {"id": name, "policies": list(POLICIES_OF[name]), "about": cleandoc(protocol.__doc__ or "").split("\n")[0]}
        for name, protocol in PROTOCOLS.items()
    ]


def _properties() -> list[Row]:
    return [
        {"id": p.id, "kind": p.kind, "scope": p.scope, "policies": list(p.policies), "about": p.about}
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
    from routeproof.checker.prove.report import described  # Z3 is loaded only where somebody asks
    from routeproof.checker.prove.theorems import THEOREMS

    return [described(theorem) for theorem in THEOREMS.values()]


def _experiments() -> list[Row]:
    from routeproof.checker.reproduce import EXPERIMENTS  # with the simulator and all that it runs

    return [
        {"id": name, "figure": each.figure, "scale": each.scale, "about": each.about, "assumptions": each.assumptions}
        for name, each in EXPERIMENTS.items()
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
    """Of a claim that fails, what holds in its place."""
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
    own = POLICIES_OF[str(row["protocol"])] if "protocol" in row else ALL_POLICIES
    return "" if row["policies"] == list(own) else f"[{_under(row) or 'a claim that fails'}]"

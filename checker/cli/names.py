"""Names: `routeproof list` lists those that other commands take, `routeproof explain` says what one means."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Callable
from importlib.resources import files
from typing import TypeAlias

from attrs import asdict, field, frozen

from routeproof.checker.cli.arguments import Parser, one_of
from routeproof.checker.instances import shipped
from routeproof.checker.system.errors import missing_package, unknown
from routeproof.checker.system.terminal import WIDTH, say, wrapped
from routeproof.impl.workloads import WORKLOADS, parameters
from routeproof.model.protocols import DEFINITIONS, MUTANTS, all_policies
from routeproof.spec.catalogues import CLAIMS, RULES
from routeproof.spec.properties import PROPERTIES
from routeproof.spec.specification import Property

Row = dict[str, object]

LIST_DESCRIPTION = """\
List the names that other commands take: protocols, properties, rules, instances, mutants, ...
With --json: {KIND: [one object for each name]}."""
LIST_EXAMPLES = """\
  routeproof list instances
  routeproof list mutants --json"""


def list_parser() -> Parser:
    p = Parser("list", LIST_DESCRIPTION, LIST_EXAMPLES)
    kinds = f"one of {', '.join(KINDS)}; without KIND, list the kinds"
    p.add_argument("kind", metavar="KIND", nargs="?", type=one_of(KINDS, "kind"), help=kinds)
    p.add_argument("--json", action="store_true", help="print all fields as JSON")
    return p


def list_command(arguments: argparse.Namespace) -> int:
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


def _fields(each: object, *names: str) -> Row:
    values = {name: getattr(each, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _protocols() -> list[Row]:
    return [{"id": name, **_fields(each, "policies", "about")} for name, each in DEFINITIONS.items()]


def _properties() -> list[Row]:
    return [_fields(each, "id", "kind", "over", "policies", "about") for each in PROPERTIES.values()]


def _instances() -> list[Row]:
    return [
        {
            **_fields(instance, "name", "protocol", "policies"),
            "brokers": len(instance.overlay.brokers),
            "advertisements": len(instance.advertisers),
            "subscriptions": len(instance.subscribers),
            "publications": len(instance.publications),
            "faults": asdict(instance.faults),
            **_fields(instance, "must_reach", "must_fail", "about"),
        }
        for instance in shipped()
    ]


def _mutants() -> list[Row]:
    return [_fields(each, "id", "protocol", "rule", "policies", "about") for each in MUTANTS.values()]


def _workloads() -> list[Row]:
    return [
        {"name": name, "about": recipe.about, "parameters": [asdict(each) for each in parameters(recipe)]}
        for name, recipe in WORKLOADS.items()
    ]


def _theorems() -> list[Row]:
    from routeproof.checker.prove.report import described  # Z3 is loaded only for this kind
    from routeproof.checker.prove.theorems import THEOREMS

    return [described(theorem) for theorem in THEOREMS.values()]


def _experiments() -> list[Row]:
    from routeproof.checker.experiments import experiments  # with the simulator and all that it runs

    rows = experiments().items()
    return [{"id": name, **_fields(each, "figure", "scale", "about", "assumptions")} for name, each in rows]


# -- what of it fits on a line -----------------------------------------------------------------------------------------

KINDS: dict[str, tuple[Callable[[], list[Row]], Callable[[Row], list[str]]]] = {
    "protocols": (_protocols, lambda row: [str(row["id"]), f"{row['about']} Policies: {_under(row)}."]),
    "properties": (_properties, lambda row: [str(row["id"]), str(row["kind"]), f"{row['about']} {_unless_all(row)}"]),
    "rules": (
        lambda: [asdict(rule) for rule in RULES.values()],
        lambda row: [str(row["id"]), str(row["protocol"]), str(row["title"])],
    ),
    "instances": (
        _instances,
        lambda row: [str(row["name"]), str(row["protocol"]), f"{row['brokers']} brokers", str(row["about"])],
    ),
    "mutants": (_mutants, lambda row: [str(row["id"]), str(row["rule"]), f"{row['about']} {_unless_all(row)}"]),
    "claims": (
        lambda: [asdict(claim) for claim in CLAIMS.values()],
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


EXPLAIN_DESCRIPTION = """\
Print what a rule, a property, a claim, a seeded fault or a verdict means: its text, its source, and
where it is tested."""
EXPLAIN_EXAMPLES = """\
  routeproof explain COV-8
  routeproof explain NoLostDelivery
  routeproof explain PROP-2-lazy --json
  routeproof explain vacuous"""

VERDICTS = {
    "holds": "The property was true in every state of the search, and in at least one of them it had something to say.",
    "fails": "The property is false in a state that the network can reach. The report names the shortest run into such"
    " a state, and writes a trace of it: routeproof show TRACE.",
    "unknown": "A limit (--max-states, --seconds, --max-memory) or an interrupt ended the work before the answer was"
    " known. An unknown verdict is never counted as a success: the exit code is 3.",
    "vacuous": "The property was never false, but it never had anything to say either: no state exercised it. It is"
    " not counted among the properties that hold. Use an instance in which something can go wrong.",
    "accepted": "The reference could have made the recorded run, as far as it was observed. The report says how much"
    " was judged.",
    "rejected": "The reference could not have made the recorded run. The report names the first event of each cause,"
    " and the rule that it breaks.",
    "PASS": "Every property that was checked holds, or fails where its instance expects that (must_fail). Exit code 0.",
    "FAIL": "A property fails, or something that an instance must reach was not reached. Exit code 1.",
    "UNDETERMINED": "No failure was found, and not everything could be answered. Exit code 3.",
}
"""Verdicts of searches and of validation, and the words with which reports begin their last line."""

Lines: TypeAlias = "dict[str, list[str]]"


@frozen
class Explanation:
    """A name with its kind and title. `facts`: by heading, lines of text."""

    name: str
    kind: str
    title: str
    facts: Lines = field(factory=dict)

    def text(self) -> str:
        rows = [f"{self.name}  {self.kind}", *_wrapped(self.title, "")]
        for heading, lines in self.facts.items():
            rows += ["", f"{heading}:"]
            for line in lines:
                rows += _wrapped(line, "  ")
        return "\n".join(rows)


def explain_parser() -> Parser:
    p = Parser("explain", EXPLAIN_DESCRIPTION, EXPLAIN_EXAMPLES)
    p.add_argument("name", metavar="NAME", help="a rule, a property, a claim, a seeded fault or a verdict")
    p.add_argument("--protocol", metavar="module:NAME", help="load a protocol from outside first")
    p.add_argument("--json", action="store_true", help="print the same as JSON")
    return p


def explain_command(arguments: argparse.Namespace) -> int:
    explained = explain(arguments.name)
    if arguments.json:
        kinds = {"name": explained.name, "kind": explained.kind, "title": explained.title}
        say(json.dumps({**kinds, "facts": explained.facts}, indent=2))
    else:
        say(explained.text())
    return 0


def explain(name: str) -> Explanation:
    """The explanation of a name, in whatever case it is given. `UsageError` if nothing has it."""
    readers = ((RULES, _rule), (PROPERTIES, _property), (CLAIMS, _claim), (MUTANTS, _mutant), (VERDICTS, _verdict))
    for known, reader in readers:
        found = name if name in known else next((each for each in known if each.lower() == name.lower()), None)
        if found is not None:
            return reader(found)
    raise unknown("rule, property, claim, mutant or verdict", name, [each for known, _ in readers for each in known])


def _rule(id: str) -> Explanation:
    rule = RULES[id]
    facts: Lines = {"text": _prose(rule.protocol, id), "source": [_source(rule.source)]}
    asked = [instance.name for instance in shipped() if id in instance.must_reach]
    faults = [f"{m.id}: {m.about}" for m in MUTANTS.values() if m.rule == id]
    facts |= {"must fire in": [", ".join(asked)]} if asked else {}
    facts |= {"seeded faults that break it (routeproof check INSTANCE --mutant ID)": faults} if faults else {}
    if rule.protocol == "traces":
        facts["tested"] = ["routeproof validate rejects a trace that breaks it."]
    elif not rule.fires:
        facts["tested"] = ["A definition or an assumption: no handler applies it, so no report counts it."]
    return Explanation(id, f"rule of {rule.protocol}", f"{rule.title[0].upper()}{rule.title[1:]}.", facts)


def _prose(protocol: str, id: str) -> list[str]:
    """The paragraph of the specification that begins with the id."""
    page = files("routeproof.spec") / f"{protocol}.md"
    if not page.is_file():
        return ["The protocol has no page in spec/."]
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^\*\*{re.escape(id)}\*\* ?(.*?)(?=^\*\*|^#|\Z)", text, re.MULTILINE | re.DOTALL)
    paragraphs = re.split(r"\n\n|\n(?=- )", found[1].strip()) if found else ["See the page."]
    return [*(_plain(each) for each in paragraphs), f"spec/{protocol}.md"]


def _plain(markdown: str) -> str:
    without_links = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", markdown)
    return " ".join(re.sub(r"[*`]+", "", without_links).split())


def _source(source: str) -> str:
    return "Our own: the papers do not have it." if source == "ours" else f"Paper {source} (docs/papers.md)."


def _property(id: str) -> Explanation:
    p = PROPERTIES[id]
    kind = "must hold in every state" if p.kind == "always" else "must hold in one state at least, or the report warns"
    facts: Lines = {"asked": [f"It {kind}. {_place(p)}"], "meant for": _meant_for(p)}
    facts |= _where({"claims of the papers": [f"{c.id} ({c.verdict})" for c in CLAIMS.values() if c.property == id]})
    facts |= _where({"must fail in": [i.name for i in shipped() if id in i.must_fail]})
    facts |= _where({"must be reached in": [i.name for i in shipped() if id in i.must_reach]})
    return Explanation(id, "property", p.about, facts)


def _place(p: Property) -> str:
    reads = f", and reads {', '.join(p.reads)}" if p.reads else ""
    quiet = " where no control message is on its way" if p.quiet else ""
    over = {"world": "the whole network", "graph": "all runs", "settled": "all runs"}.get(p.over, f"each {p.over}")
    return f"It is about {over}{quiet}{reads}."


def _meant_for(p: Property) -> list[str]:
    by_protocol: dict[str, list[str]] = {}
    for protocol, policy in p.variants:
        by_protocol.setdefault(protocol, []).append(policy)
    return [f"{protocol}: {', '.join(policies)}" for protocol, policies in by_protocol.items()] or [
        "a claim that fails"
    ]


def _where(names: Lines) -> Lines:
    return {heading: [", ".join(found)] for heading, found in names.items() if found}


def _claim(id: str) -> Explanation:
    claim = CLAIMS[id]
    facts: Lines = {
        "our reading": [claim.reading],
        "verdict": [f"{claim.verdict}: {claim.scope}."],
        "source": [_source(claim.paper)],
        "asked as": [f"the property or experiment {claim.property}"],
    }
    facts |= _where({"asked again in": list(claim.instances)})
    if claim.criterion:
        facts["criterion"] = [f"{part}." for part in claim.criterion]
    if claim.trace:
        facts["smallest counterexample"] = [f"traces/corpus/{claim.trace}, which routeproof check replays"]
    if claim.repair:
        instead = f" Claim {claim.repair.holds} says what holds." if claim.repair.holds else ""
        facts["repair"] = [f"{claim.repair.about}{instead}"]
    return Explanation(id, "claim", claim.says, facts)


def _mutant(id: str) -> Explanation:
    mutant = MUTANTS[id]
    title = RULES[mutant.rule].title if mutant.rule in RULES else ""
    facts: Lines = {
        "breaks": [f"{mutant.rule}: {title}"],
        "under": [f"{mutant.protocol}: {', '.join(mutant.policies)}"],
    }
    facts["see it caught"] = [f"routeproof check --mutant {id}"]
    return Explanation(id, "seeded fault", mutant.about, facts)


def _verdict(word: str) -> Explanation:
    return Explanation(word, "verdict", VERDICTS[word], {"more": ["docs/reference/exit-codes.md, docs/glossary.md"]})


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent) or [""]

"""A protocol from outside is checked, fuzzed, shrunk, shown and recorded without an edit in routeproof."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import evolve

from routeproof.checker.cli import main
from routeproof.checker.counterexamples import replay_file
from routeproof.checker.counterexamples.record import replay
from routeproof.checker.evaluation import Monitor, violations
from routeproof.checker.experiments.bench import plain_search
from routeproof.checker.explore import explore
from routeproof.checker.fuzz import fuzz
from routeproof.checker.instances import find, folders, load
from routeproof.model import plugins
from routeproof.model.definition import Policy
from routeproof.model.instance_file import InstanceError, parse_instance, to_table
from routeproof.model.plugins import PluginError
from routeproof.model.protocol import ProtocolError
from routeproof.model.protocols import DEFINITIONS, world
from routeproof.model.world import World
from routeproof.spec.properties import PROPERTIES, properties_for
from tests.kit.ferry import FERRY, POLICIES, Boat, Close, Order
from tests.kit.own import VARIATIONS, Eager

CROSSING = Path(__file__).with_name("crossing.toml")
NAME = "tests.kit.ferry:FERRY"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The ferry, named as worker processes learn of it; afterwards it is gone again."""
    monkeypatch.setenv(plugins.VARIABLE, NAME)
    yield
    plugins._announced.cache_clear()


def crossing(mutant: str | None = None, policy: str = "active") -> World:
    return world(load(CROSSING), policy, mutant)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each test in a directory of its own, since `check` writes counterexamples below the current one."""
    monkeypatch.chdir(tmp_path)


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


# -- the model ---------------------------------------------------------------------------------------------------------


def test_roles_and_channels() -> None:
    asked = crossing()
    assert dict(asked.topology.role) == {1: "broker", 2: "broker", 3: "client", 4: "coordinator"}
    assert asked.links == ((1, 2), (1, 3), (2, 1), (3, 1), (3, 4), (4, 3))
    assert [asked.name(node) for node in asked.nodes] == ["b1", "b2", "ferry", "harbour"]


def test_the_section_of_an_instance_is_read_and_written() -> None:
    instance = load(CROSSING)
    assert instance.section("ferry") == (1, 2)
    assert parse_instance(to_table(instance), "again") == instance


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"congestion": [{"at": 1}]}, 'edited.toml: found the unknown key "congestion"'),
        (
            {"subscription": [{"id": "s", "at": 1, "events": [0], "unsubscribes": True, "again": 1}]},
            'subscription[1]: found the unknown key "again"',
        ),
        ({"ferry": {"at": 3}}, "ferry.at: found broker 3; expected a broker of the overlay, 1 to 2"),
        ({"ferry": {"at": 1, "voyages": 4}}, "ferry.voyages: found 4; expected a whole number from 1 to 3"),
    ],
)
def test_keys_of_other_protocols_and_wrong_values_are_refused(change: dict[str, object], why: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(why)):
        parse_instance({**to_table(load(CROSSING)), **change}, "edited.toml")


@pytest.mark.parametrize("policy", ["none", "active"])
def test_everything_holds_and_a_plain_search_counts_the_same(policy: str) -> None:
    result = explore(crossing(policy=policy))
    plain = plain_search(crossing(policy=policy))
    assert (result.states, result.transitions, result.depth) == (plain.states, plain.transitions, plain.depth)
    assert {f.verdict for f in result.findings.values()} == {"holds"}
    assert min(f.exercised for f in result.findings.values()) > 0
    assert {"FER-1", "FER-2", "FER-3", "FER-4", "FER-5", "RTE-5"} <= set(result.rules)


def test_a_publication_that_waits_aboard_is_not_lost() -> None:
    """The same handler, but what it keeps counts for nothing: then the buffer is taken for a loss."""
    asked = crossing()

    class Forgetful(type(asked.protocol)):  # type: ignore[misc]  # a class that is known at run time only
        may_hold = False

    forgetful = World(
        asked.instance, DEFINITIONS["ferry"].make(Forgetful, asked.instance, "active"), "active", None, asked.definition
    )
    assert explore(forgetful).findings["NoLostDelivery"].verdict == "fails"


def test_its_rules_are_counted_and_one_that_never_fires_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An instance may ask that a rule from outside fires (`must_reach`)."""
    assert {"FER-1", "FER-5"} <= {id for id, fired in explore(crossing()).rules.items() if fired}
    ashore = tmp_path / "ashore.toml"
    ashore.write_text(CROSSING.read_text(encoding="utf-8").replace("voyages = 2", "voyages = 1"), encoding="utf-8")
    text = ashore.read_text(encoding="utf-8").split("[[publication]]")[0].replace('"SomeDelivery", ', "")
    ashore.write_text(text, encoding="utf-8")
    main(["check", str(ashore), "--protocol", "tests.kit.ferry:FERRY"])
    assert "FER-2" in capsys.readouterr().out


def test_policies_of_one_name_belong_to_several_protocols() -> None:
    assert ("routing", "active") in PROPERTIES["Agreement"].variants
    assert ("ferry", "active") in PROPERTIES["Agreement"].variants
    assert "OnlyWhileOpen" not in {p.id for p in properties_for("routing", "active")}
    assert "Compact" not in {p.id for p in properties_for("ferry", "active")}


# -- ghosts and scopes -------------------------------------------------------------------------------------------------


def two_publications(mutant: str | None, *others: str) -> World:
    """The crossing with a second publication for the client, and clients besides it."""
    table = to_table(load(CROSSING))
    publications = [*table["publication"], {"id": "q", "of": "a", "event": 0}]  # type: ignore[misc]
    clients = [*table["subscription"], *({"id": s, "at": 1, "events": [0]} for s in others)]  # type: ignore[misc]
    section = {"at": 1, "voyages": 1}
    edited = {**table, "publication": publications, "subscription": clients, "ferry": section}
    return world(parse_instance(edited, "edited"), "active", mutant)


def test_each_client_has_an_order_of_its_own() -> None:
    asked = two_publications(None, "t")
    assert [(ghost.name, ghost.of) for ghost in asked.ghosts] == [("order", "s"), ("order", "t")]
    result = explore(two_publications(None))
    plain = plain_search(two_publications(None))
    assert (result.states, result.transitions, result.depth) == (plain.states, plain.transitions, plain.depth)
    assert result.findings["CargoInOrder"].verdict == "holds"


@pytest.mark.parametrize(
    ("mutant", "caught"),
    [
        ("unloads-the-latest-first", "CargoInOrder"),
        ("keeps-a-copy", "NotYetAshore"),
        ("keeps-a-copy", "Unloaded"),
    ],
)
def test_properties_over_the_world_and_clients_catch_mutants(mutant: str, caught: str) -> None:
    asked = two_publications(mutant)
    finding = explore(asked, properties=[PROPERTIES[caught]], stop_at_first=True).findings[caught]
    assert finding.verdict == "fails"
    assert finding.run is not None
    monitor = Monitor(asked, [PROPERTIES[caught]])
    looks = [monitor.look(asked.initial()), *(monitor.look(step.state) for step in replay(asked, finding.run))]
    assert [bool(each) for each in looks] == [False] * (len(looks) - 1) + [True]
    fuzzed = fuzz(asked.instance, policy="active", mutant=mutant, seed=1, examples=60, properties=[PROPERTIES[caught]])
    assert fuzzed.findings[caught].verdict == "fails"


@pytest.mark.parametrize("engine", ["explore", "plain"])
def test_a_name_that_nothing_has_is_refused_with_those_that_there_are(engine: str) -> None:
    sly = evolve(PROPERTIES["CargoInOrder"], reads=("orders",))
    with pytest.raises(
        ProtocolError, match=r"property CargoInOrder reads orders, which is no ghost .* one of done, .*order$"
    ):
        explore(crossing(), properties=[sly]) if engine == "explore" else violations(
            crossing(), crossing().initial(), [sly]
        )
    lost = evolve(PROPERTIES["CargoInOrder"], reads=("local",))
    with pytest.raises(ProtocolError, match="is over each world and reads local; expected locals, queues, flight"):
        explore(crossing(), properties=[lost])


def test_two_ghosts_of_one_name_are_refused() -> None:
    twice = evolve(DEFINITIONS["ferry"], ghosts=(Order(), Order()))
    with pytest.raises(ProtocolError, match="ghost order: the name is taken"):
        evolve(crossing(), definition=twice).initial()


# -- mutants, in every engine ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mutant", "caught", "most"),
    [("sails-with-the-cargo", "NoLostDelivery", 8), ("speaks-from-the-sea", "OnlyWhileOpen", 6)],
)
def test_a_mutant_is_caught_recorded_shrunk_and_shown(
    mutant: str, caught: str, most: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--instance", str(CROSSING), "--policy", "active", "--mutant", mutant, "--traces", str(tmp_path))
    code, _, _ = checked(capsys, "check", "--protocol", NAME, *arguments, "--property", caught)
    assert code == 1
    (trace,) = tmp_path.iterdir()
    assert replay_file(trace).difference is None
    assert json.loads(trace.read_text().splitlines()[0])["roles"] == {"ferry": "client", "harbour": "coordinator"}
    small = tmp_path / "small.jsonl"
    assert main(["shrink", str(trace), "-o", str(small)]) == 0
    replayed = replay_file(small)
    assert replayed.difference is None
    assert len(replayed.steps) <= most
    assert len(replayed.counterexample.world.brokers) == 1
    assert replayed.counterexample.world.instance.section("ferry", (1, 1))[1] == 1
    code, shown, _ = checked(capsys, "show", str(small))
    assert code == 0
    assert "harbour -> ferry" in shown
    assert f"{caught} fails" in shown


def test_the_fuzzer_finds_the_lost_cargo() -> None:
    result = fuzz(load(CROSSING), policy="active", mutant="sails-with-the-cargo", seed=1, examples=60)
    assert result.findings["NoLostDelivery"].verdict == "fails"


def test_the_fuzzer_finds_nothing_else() -> None:
    result = fuzz(load(CROSSING), policy="active", mutant=None, seed=1, examples=20)
    assert not [f for f in result.findings.values() if f.verdict == "fails"]


def test_a_property_with_the_id_of_another_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = evolve(PROPERTIES["CargoInOrder"], id="NoDuplicate")
    monkeypatch.setattr(FERRY, "specification", evolve(FERRY.specification, properties=(taken,)))
    monkeypatch.setattr(PROPERTIES, "_outside", None)  # composed anew: the plugin was changed in place
    with pytest.raises(PluginError, match="protocol ferry: property NoDuplicate has the id of another property"):
        len(PROPERTIES)


# -- one clear error, in every engine ----------------------------------------------------------------------------------

STRAY = {
    "calls-the-harbour": "b1 sends close to harbour, to which it has no channel; add the channel to the topology",
    "loses-the-chart": "the handler fails at harbour, on moor(1) from a client: KeyError: 'chart' (",
    "whistles": "ferry sends whistle, a Whistle, which is no message of the protocol; expected one of advertise, ",
}


@pytest.mark.parametrize("mutant", sorted(STRAY))
@pytest.mark.parametrize("engine", ["explore", "fuzz"])
def test_what_nobody_can_receive_is_refused(mutant: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = checked(
        capsys, "check", "--engine", engine, "--instance", str(CROSSING), "--policy", "active", "--mutant", mutant
    )
    assert code == 2
    assert STRAY[mutant] in error
    assert error.count("\n") == 1


def test_the_plain_search_refuses_it_too() -> None:
    for mutant, why in STRAY.items():
        with pytest.raises(ProtocolError, match=re.escape(why.split(";")[0])):
            plain_search(crossing(mutant))


def test_what_the_ferry_has_no_answer_for_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(CROSSING)
    code, _, error = checked(capsys, "check", "--instance", file, "--policy", "active", "--reduction", "symmetry")
    assert (code, "has not been argued for the protocol ferry" in error) == (2, True)
    code, _, error = checked(capsys, "check", "--engine", "fuzz", "--protocol", "ferry")
    assert (code, "no instances are drawn for the protocol ferry" in error) == (2, True)


# -- as it runs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_it_runs_in_the_simulator_in_lockstep_with_its_model(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    delivered = 0
    for seed in range(6):
        arguments = ("run", str(CROSSING), "--policy", policy, "--seed", str(seed), "--out", "out")
        code, out, error = checked(capsys, *arguments, "--conform", "--trace")
        assert (code, error) == (0, "")
        assert "2 brokers and 2 other nodes" in out
        assert "each step is the model's" in out
        summary = json.loads(Path("out/summary.json").read_text())
        assert (summary["messages"]["moor"], summary["messages"]["open"]) == (4, 2), "from the clock, and passed on"
        assert set(summary["brokers"]) == {"b1", "b2", "ferry", "harbour"}
        delivered += summary["delivered"]
        header = json.loads(Path("out/trace.jsonl").read_text().splitlines()[0])
        assert (header["protocol"], header["roles"]) == ("ferry", {"ferry": "client", "harbour": "coordinator"})
        code, shown, _ = checked(capsys, "show", "out/trace.jsonl")
        assert (code, "send ferry moor" in " ".join(shown.split())) == (0, True)
    assert delivered


def test_lockstep_finds_where_it_differs_from_the_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Boat, "receive", lambda self, sender, message: [(self.quay, Close())])
    code, out, _ = checked(capsys, "run", str(CROSSING), "--conform", "--out", "out")
    assert code == 1
    assert "DIVERGES: step " in out
    assert "the implementation, close" in out


def test_a_node_without_a_channel_is_not_spoken_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Boat, "receive", lambda self, sender, message: [(2, Close())])
    code, _, error = checked(capsys, "run", str(CROSSING), "--out", "out")
    assert (code, error.count("\n")) == (2, 1)
    assert "ferry sends close to b2, to which it has no channel" in error


def test_it_runs_over_tcp(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))  # each node's process loads the protocol
    code, out, error = checked(capsys, "run", str(CROSSING), "--policy", "active", "--tcp", "--out", "out")
    assert (code, error) == (0, "")
    assert "moor 4, cast 4, open 2, close 2" in out
    assert not Path("out/brokers.log").exists()
    code, shown, _ = checked(capsys, "show", "out/trace.jsonl")
    assert (code, "send ferry moor" in " ".join(shown.split())) == (0, True)


def test_a_protocol_without_an_implementation_is_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr(FERRY, "implementation")
    code, _, error = checked(capsys, "run", str(CROSSING), "--out", "out")
    assert (code, error.count("\n")) == (2, 1)
    assert "the protocol ferry has no implementation to run" in error


@pytest.mark.parametrize("name", ["line3", "back2", "hold3"])
def test_instances_of_the_protocols_that_ship_run_in_lockstep(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    instance = next(path for folder in folders() if (path := Path(str(folder)) / f"{name}.toml").exists())
    for policy in find(name).policies:
        code, out, _ = checked(capsys, "run", str(instance), "--policy", policy, "--conform", "--out", "out")
        assert (code, "each step is the model's" in out) == (0, True)


# -- how it is announced -----------------------------------------------------------------------------------------------


def test_an_entry_point_announces_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(plugins.VARIABLE)
    assert "ferry" not in DEFINITIONS
    package = tmp_path / "ferry-0.1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: ferry\nVersion: 0.1\n")
    (package / "entry_points.txt").write_text(f"[{plugins.GROUP}]\nferry = {NAME}\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    plugins._announced.cache_clear()
    assert "ferry" in DEFINITIONS
    assert explore(crossing()).complete


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ("nowhere.at.all:X", "protocol nowhere.at.all:X: cannot be loaded: No module named 'nowhere'"),
        ("tests.kit.ferry:FERY", "protocol tests.kit.ferry:FERY: cannot be loaded: "),
        ("tests.kit.ferry:", "expected module:NAME"),
    ],
)
def test_what_cannot_be_loaded_is_refused(named: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = checked(capsys, "check", "--protocol", named, "--instance", str(CROSSING))
    assert code == 2
    assert why in error
    assert error.count("\n") == 1


def test_an_instance_of_another_protocol_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, error = checked(capsys, "check", "line3", "--protocol", "ferry")
    assert (code, "instance line3 is of the protocol routing" in error) == (2, True)


# -- a user's own property and mutant of a protocol that ships ---------------------------------------------------------


def test_a_property_and_a_mutant_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(plugins.VARIABLE, "tests.kit.own:OWN")
    code, out, _ = checked(capsys, "check", "tiny", "--policy", "active", "--property", "FewEntries")
    assert (code, "FewEntries" in out) == (0, True)
    code, out, _ = checked(
        capsys, "check", "tiny", "--policy", "active", "--property", "FewEntries", "--mutant", "invents-entries"
    )
    assert code == 1
    assert "FewEntries" in out


def test_a_policy_of_ones_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv(plugins.VARIABLE, "tests.kit.own:VARIATIONS")
    assert {p.id for p in properties_for("routing", "eager")} == {p.id for p in properties_for("routing", "none")}
    result = explore(world(find("line3"), "eager"))
    like = explore(world(find("line3"), "none"))
    assert (result.policy, result.states, result.transitions) == ("eager", like.states, like.transitions)
    assert {f.verdict for f in result.findings.values()} == {"holds"}
    code, _, _ = checked(capsys, "check", "tiny", "--policy", "forgetful", "--traces", str(tmp_path))
    assert code == 1
    trace = next(each for each in tmp_path.iterdir() if "NoLostDelivery" in each.name)
    assert replay_file(trace).difference is None
    code, shown, _ = checked(capsys, "show", str(trace))
    assert (code, "NoLostDelivery fails" in shown, "forgetful" in shown) == (0, True, True)
    code, _, error = checked(capsys, "check", "tiny", "--policy", "eager", "--reduction", "por")
    assert (code, "has not been argued for the protocol routing under eager" in error) == (2, True)
    found = fuzz(find("tiny"), policy="forgetful", mutant=None, seed=1, examples=20).findings
    assert found["NoLostDelivery"].verdict == "fails"


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (
            Policy("eager", "rooting", "none", Eager),
            "policy eager: found the protocol rooting; expected one of routing",
        ),
        (Policy("eager", "routing", "non", Eager), "policy eager: found like non; expected one of none, active"),
        (Policy("lazy", "routing", "none", Eager), "policy lazy: the protocol routing has one of this name"),
    ],
)
def test_a_policy_that_cannot_be_is_refused(policy: Policy, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(plugins.VARIABLE, "tests.kit.own:VARIATIONS")
    monkeypatch.setattr(VARIATIONS, "policies", (policy,))
    monkeypatch.setattr(DEFINITIONS, "_outside", None)  # composed anew: the plugin was changed in place
    with pytest.raises(plugins.PluginError, match=why):
        DEFINITIONS["routing"]

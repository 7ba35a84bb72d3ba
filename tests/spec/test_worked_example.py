"""The example that both papers give for similarity (000 III-B, 001 III-B): [0, 100], [0, 50] and [40, 110]."""

import tomllib

import pytest

from routeproof.checker.counterexamples.record import replay
from routeproof.model.instance import Instance
from routeproof.model.instance_file import parse_instance
from routeproof.model.protocols import world
from routeproof.spec.pruning.similarity import pasts


def example(values: tuple[int, ...], third: bool) -> Instance:
    """S1, S2 and S3 at one broker, the publisher at the next."""
    between = {"S1": (0, 100), "S2": (0, 50), "S3": (40, 110)} if third else {"S1": (0, 100), "S2": (0, 50)}
    lines = ['name = "example"', 'protocol = "pruning"', 'policy = ["selective"]', "overlay = [[1, 2]]"]
    lines += ["[[advertisement]]", 'id = "a"', "at = 2", 'filter = [["v", ">=", 0]]']
    for id, (low, high) in between.items():
        lines += ["[[subscription]]", f'id = "{id}"', "at = 1", f'filter = [["v", ">=", {low}], ["v", "<=", {high}]]']
    for n, value in enumerate(values):
        lines += ["[[publication]]", f'id = "p{n}"', 'of = "a"', f"attributes = {{ v = {value} }}"]
    return parse_instance(tomllib.loads("\n".join(lines)), "example.toml")


@pytest.mark.parametrize(
    ("values", "third", "similar"),
    [
        ((0, 25, 50), False, 3),  # all in [0, 50]: S1 and S2 are practically identical
        ((25, 50, 75, 100), False, 2),
        ((25, 50, 75, 100), True, 4),  # S3 and S2 together want all that S1 does
    ],
)
def test_similarity_is_of_what_is_published_and_of_all_others(
    values: tuple[int, ...], third: bool, similar: int
) -> None:
    instance = example(values, third)
    subscriptions = [s.id for s in instance.subscriptions]
    publications = [p.id for p in instance.publications]
    run = ["advertise(a)", "deliver 2>1"]
    for s in subscriptions:
        run += [f"subscribe({s})"]
    at = world(instance, "selective")
    state = replay(at, run)[-1].state
    while any(state.queues):
        step = next(at.step(state, a) for a in at.actions if a.kind == "deliver" and state.queues[a.link])
        state, run = step.state, [*run, step.action.label]
    for p in publications:
        run += [f"publish({p})", "deliver 2>1"]
    past = next(past for past in pasts(at.ledger, replay(at, run)[-1].state.history) if past.rank == 0)
    assert len(past.matched) == len(values)
    assert [len(past.similar(mu)) for mu in range(2)] == [similar, similar]

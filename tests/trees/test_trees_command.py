"""`routeproof trees`: what it prints and writes, what it refuses, and that formats and engines make no difference."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from attrs import evolve

from routeproof.impl.trees.corpus import FAR, NETWORKS, CorpusRecipe, network_of
from tests.checker.command import Here, Ran

RING = [{"from": f"b{v}", "to": f"b{(v + 1) % 6}"} for v in range(6)]
WANTED = [
    *({"id": f"a{v}", "broker": f"b{v}", "keywords": ["a"]} for v in (1, 2, 3)),
    *({"id": f"c{v}", "broker": f"b{v % 6}", "keywords": ["c"]} for v in (3, 4, 5, 6)),
]
DOCUMENTS: list[dict[str, Any]] = [
    {"id": "d1", "publisher": "b0", "keywords": ["a"]},
    {"id": "d2", "publisher": "b0", "keywords": ["c"], "size": 10},
]
HOSTILE = '"><script>alert(1)</script>\x1b[31m\u202e'
RECIPE = CorpusRecipe(brokers=60, documents=400, keywords=40, dataset="localized2")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(tmp_path, monkeypatch, capsys)


def lines(here: Here, name: str, rows: list[dict[str, Any]]) -> str:
    here.write(name, "".join(json.dumps(row) + "\n" for row in rows))
    return name


def tables(here: Here, links: Any = RING, documents: Any = DOCUMENTS, wanted: Any = WANTED) -> list[str]:
    every = (("n.jsonl", links), ("d.jsonl", documents), ("s.jsonl", wanted))
    return [lines(here, name, rows) for name, rows in every]


def test_example_i_3(here: Here) -> None:
    """Two trees on a ring of six brokers cost half of it each; a single tree costs half of it, and all but one link."""
    ran = here("trees", *tables(here), "--sample", "1", "--out", "planned", "--json", "a.json")
    assert ran.code == 0
    rows = [line.split() for line in ran.out.splitlines()]
    assert ["mult", "2", "33", "1.000", "6", "2", "7", "0", "1"] in rows
    assert ["single", "1", "35", "1.061", "8", "2", "7", "0", "2"] in rows
    found = json.loads(Path("a.json").read_text())
    assert found == json.loads(Path("planned/trees.json").read_text())
    costs = {each["strategy"]: each["cost"] for each in found["strategies"]}
    assert costs == {
        "mult": 33,
        "single": 35,
        "spt": costs["spt"],
        "semcast": 33,
        "semcast filtered": 33,
        "semcast of clusters": 33,
        "flooding": 55,
        "opt": 33,
    }
    clusters = pq.read_table("planned/clusters.parquet").to_pylist()
    assert {row["subscription"]: row["cluster"] for row in clusters} == {
        **dict.fromkeys(("a1", "a2", "a3"), 0),
        **dict.fromkeys(("c3", "c4", "c5", "c6"), 1),
    }
    loads = pq.read_table("planned/links.parquet").to_pylist()
    assert sum(row["documents"] for row in loads if row["strategy"] == "mult") == 6
    parents = {(r["cluster"], r["broker"]): r["parent"] for r in pq.read_table("planned/trees.parquet").to_pylist()}
    assert len(parents) == 12
    assert sum(broker == parent for (_, broker), parent in parents.items()) == 2
    assert {path.name for path in Path("planned").iterdir()} == {
        *("strategies.parquet", "clusters.parquet", "trees.parquet", "links.parquet", "levels.parquet"),
        *("trees.json", "report.html"),
    }


def made(here: Here, *argv: str) -> dict[str, bytes]:
    ran = here("trees", *argv, "--out", "out")
    assert ran.code == 0, ran.err
    return {path.name: path.read_bytes() for path in Path("out").iterdir() if path.suffix != ".json"}


def test_formats_and_order_make_no_difference(here: Here) -> None:
    """Parquet, CSV, JSON Lines, a directory of files with the rows in another order."""
    RECIPE.drawn().write(here.directory)
    forms: dict[str, list[str]] = {"parquet": [], "csv": [], "jsonl": [], "directory": []}
    for name in ("network", "documents", "subscriptions"):
        rows = pq.read_table(f"{name}.parquet").to_pylist()
        forms["parquet"].append(f"{name}.parquet")
        forms["jsonl"].append(lines(here, f"{name}.jsonl", rows))
        with Path(f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows({k: " ".join(v) if isinstance(v, list) else v for k, v in row.items()} for row in rows)
        forms["csv"].append(f"{name}.csv")
        Path(name).mkdir()
        for part in range(3):
            lines(here, f"{name}/part-{part}.jsonl", rows[::-1][part::3])
        forms["directory"].append(name)
    options = ("--sample", "0.3", "--study")
    found = {form: made(here, *names, *options) for form, names in forms.items()}
    assert "study.parquet" in found["parquet"]
    assert all(each == found["parquet"] for each in found.values())


@pytest.mark.parametrize(
    "options", [("--algorithm", "mult2"), ("--algorithm", "hybrid", "--clusters", "3"), ("--split",)]
)
def test_algorithms(here: Here, options: tuple[str, ...]) -> None:
    wanted = [*WANTED, {"id": "both", "broker": "b2", "keywords": ["a", "c"]}]
    wanted.append({"id": "none", "broker": "b2", "keywords": ["x", "a"], "match": "all"})
    ran = here("trees", *tables(here, wanted=wanted), "--sample", "1", "--json", "a.json", "--only", *options)
    assert ran.code == 0
    (found,) = json.loads(Path("a.json").read_text())["strategies"]
    assert found["cost"] >= 33
    assert found["deliveries"] == 8
    assert found["duplicates"] == found["copies"] - found["deliveries"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"links": [{"from": "a"}]}, 'the row of "a": without to'),
        ({"links": [{"from": "a", "to": "a"}]}, "joins 'a' to itself"),
        ({"links": [*RING, {"from": "x", "to": "y"}]}, "not connected"),
        ({"links": [*RING, {"from": "b0", "to": "b1", "cost": 0}]}, 'the cost is "0"; expected a whole number from 1'),
        ({"links": []}, "the table of network has no rows"),
        ({"documents": [{"id": "d", "publisher": "b9", "keywords": []}]}, 'broker \\"b9\\" is not in the network'),
        ({"documents": [DOCUMENTS[0], DOCUMENTS[0]]}, 'the row of "d1": the id is given twice'),
        ({"documents": [{"id": "d", "publisher": "b1", "keywords": [1]}]}, "the keywords are no list of texts"),
        ({"documents": [{"id": "d", "publisher": "b1", "keywords": "a", "size": "two"}]}, 'the size is "two"'),
        ({"documents": [{"id": "d", "publisher": True, "keywords": "a"}]}, "the publisher is no text"),
        ({"documents": [{"publisher": "b1"}, {"publisher": "b2"}]}, "without id (1 more rows are wrong)"),
        ({"documents": []}, "the table of documents has no rows"),
        ({"wanted": [{"id": "s", "broker": "b9", "keywords": "a"}]}, "is not in the network"),
        ({"wanted": [{"id": "s", "broker": "b1", "keywords": ""}]}, "without keywords"),
        ({"wanted": [{"id": "s", "broker": "b1", "keywords": "a", "match": "most"}]}, "expected any or all"),
        ({"wanted": [{"id": "s", "broker": f"b{v}", "keywords": "a"} for v in (1, 2)]}, "it is at the brokers"),
    ],
)
def test_tables_that_are_refused(here: Here, change: dict[str, Any], complaint: str) -> None:
    refused(here("trees", *tables(here, **change)), complaint.replace('\\"', '"'))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["n.jsonl", "d.jsonl"], "required: SUBSCRIPTIONS"),
        (["n.jsonl", "none.csv", "s.jsonl"], "No such file"),
        (["n.jsonl", "d.txt", "s.jsonl"], "the format is not known"),
        (["n.jsonl", "orc:d.jsonl", "s.jsonl"], "only Spark reads this"),
        (["n.jsonl", "table:d", "s.jsonl"], "only Spark reads this"),
        (["n.jsonl", "d.parquet", "s.jsonl"], "cannot be read as Parquet"),
        (["n.jsonl", "d.csv", "s.jsonl"], 'no column "publisher" or "keywords"'),
        (["n.jsonl", "broken.jsonl", "s.jsonl"], "a line that is no JSON"),
        (["n.jsonl", "empty", "s.jsonl"], "the format is not known"),
        (["n.jsonl", "d.jsonl", "s.jsonl", "--sample", "0"], "expected a share above 0"),
        (["n.jsonl", "d.jsonl", "s.jsonl", "--sample", "nan"], "expected a share above 0"),
        (["n.jsonl", "d.jsonl", "s.jsonl", "--algorithm", "mult3"], "no algorithm is called"),
        (["n.jsonl", "d.jsonl", "s.jsonl", "--master", "local"], "give --engine spark as well"),
        (["n.jsonl", "d.jsonl", "s.jsonl", "--out", "d.jsonl"], "is no directory"),
        (["n.jsonl", "large.jsonl", "s.jsonl"], "exceed 2^52; give sizes or costs in larger units"),
    ],
)
def test_words_that_are_refused(here: Here, words: list[str], complaint: str) -> None:
    tables(here)
    for name in ("d.txt", "d.parquet"):
        here.write(name, "what is this")
    here.write("d.csv", "id,text\n1,2\n")
    here.write("broken.jsonl", '{"id": \n')
    Path("empty").mkdir()
    dear = [{**link, "cost": 1_000_000} for link in RING]
    many = [{"id": f"d{at}", "publisher": "b0", "keywords": "a", "size": 1_000_000} for at in range(400)]
    lines(here, "large.jsonl", many)
    lines(here, "n.jsonl", dear)
    refused(here("trees", *words), complaint)


def refused(ran: Ran, complaint: str) -> None:
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 1
    assert complaint in ran.err.replace('\\"', '"')


def test_names_are_no_markup(here: Here) -> None:
    links = [{"from": HOSTILE, "to": "b1"}, {"from": "b1", "to": "b2"}]
    documents = [{"id": HOSTILE, "publisher": HOSTILE, "keywords": [HOSTILE]}]
    wanted = [{"id": HOSTILE, "broker": "b2", "keywords": [HOSTILE]}]
    ran = here("trees", *tables(here, links, documents, wanted), "--sample", "1", "--out", "out")
    assert ran.code == 0
    page = Path("out/report.html").read_text()
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]|<script", ran.out + page)
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page


def test_a_sample_that_matches_nothing(here: Here) -> None:
    """TREE-9: one tree of shortest paths, and every document is delivered all the same."""
    ran = here("trees", *tables(here), "--sample", "0.000001", "--json", "-")
    found = json.loads(ran.out)
    assert found["sampled"] == 0
    assert found["strategies"][0]["trees"] == 1
    assert found["strategies"][0]["deliveries"] == 7


# -- the corpora of the experiments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", NETWORKS)
@pytest.mark.parametrize("brokers", [20, 150, 600])
def test_networks_are_connected_and_sparse(family: str, brokers: int) -> None:
    network = network_of(family, brokers, 1)
    assert len(network) == brokers
    assert 2 <= 2 * len(network.low) / brokers <= 8
    assert network_of.__wrapped__(family, brokers, 1).low.tolist() == network.low.tolist()


@pytest.mark.parametrize("dataset", FAR)
@pytest.mark.parametrize("whole", [0, 1])
def test_what_is_drawn(dataset: str, whole: int) -> None:
    drawn = evolve(RECIPE, dataset=dataset, whole=whole, brokers=100).drawn()
    members = sorted((v, word) for _, v, interest in drawn.subscriptions for (word,) in interest)
    assert len(members) == len(set(members)) == RECIPE.keywords * (2 if dataset == "localized1" else 10)
    homes = {word: {v for v, each in members if each == word} for _, word in members}
    assert all(1 <= len(words) <= RECIPE.words for _, _, _, words in drawn.documents)
    assert all(word in homes for _, _, _, words in drawn.documents for word in words)
    assert len({id for id, *_ in drawn.documents}) == RECIPE.documents

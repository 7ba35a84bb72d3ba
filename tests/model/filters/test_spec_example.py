"""The code in `spec/filters.md` runs, and its table of limits is the code's."""

import re
from pathlib import Path

from routeproof.model.filters import predicate_dialect, predicate_filter, sets

TEXT = (Path(__file__).resolve().parents[3] / "spec" / "filters.md").read_text(encoding="utf-8")


def test_the_example_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 1
    exec(compile(blocks[0], "spec/filters.md", "exec"), {})


def test_the_limits_are_those_of_the_code() -> None:
    section = TEXT.split("**FLT-12")[1].split("##")[0]
    assert [int(number) for number in re.findall(r"\| (\d+)", section)] == [
        predicate_filter.PREDICATES,
        predicate_filter.ATTRIBUTES,
        predicate_filter.NAME_LENGTH,
        predicate_filter.CONSTANT_LENGTH,
        predicate_filter.STRING_LENGTH,
        predicate_filter.NUMBER_BITS,
    ]
    assert f"0 to {sets.EVENT_NUMBER}" in TEXT


def test_every_operator_is_described() -> None:
    section = TEXT.split("### Operators")[1].split("A dash")[0]
    described = re.findall(r"`([^`]+)`", section)
    assert sorted(described) == sorted(predicate_dialect.OPERATORS)


def test_every_rule_that_the_code_cites_is_there() -> None:
    folder = Path(predicate_filter.__file__).parent
    cited = {rule for file in folder.glob("*.py") for rule in re.findall(r"FLT-\d+", file.read_text(encoding="utf-8"))}
    assert cited
    assert cited <= set(re.findall(r"\*\*(FLT-\d+)", TEXT))

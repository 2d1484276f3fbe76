"""The host's check of a value and the page loop's say the same, word for word, of random schemas with references."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))

from schema_compare import compare, draw_case


@given(seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_page_loop_says_what_the_host_says_of_random_schemas(seed: int) -> None:
    cases = [draw_case(Random(f"{seed} {number}")) for number in range(10)]
    here, found = compare(cases)
    assert [(cases[number], way, here[number], there) for number, way, there in found] == []


def test_the_cases_accept_and_refuse_and_refer() -> None:
    cases = [draw_case(Random(seed)) for seed in range(100)]
    here, _ = compare(cases)
    accepted = [not issues for told in here for issues in told]
    assert 0.2 < sum(accepted) / len(accepted) < 0.9
    assert sum("$ref" in str(case["schema"]) for case in cases) >= 20

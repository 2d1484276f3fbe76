"""The fast way of folding is the plain way, event by event.

Wherever a module is judged to write nothing that it did not make, both give the same views, bytes, steps, stalls and
lines.
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))

from fold_compare import compare
from small_documents import events, recall

import recallkit as rk
from recallkit.views.fold import fold_history


@pytest.mark.parametrize("part", range(4))
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_random_folds_are_the_same_in_every_way(part: int, seed: int) -> None:
    made = compare(Random(f"{part} {seed}"))
    assume(made is not None)
    assert made is not None
    assert made.differences() == {}, made.text


def test_the_grammar_gives_both_ways_and_few_documents_that_cannot_be_saved() -> None:
    made = [compare(Random(seed)) for seed in range(40)]
    ways = [each.way for each in made if each is not None]
    assert len(ways) >= 30
    assert ways.count("fast") >= 15
    assert ways.count("owned") >= 8


@pytest.mark.parametrize("plain", [True, False])
def test_a_view_that_is_written_with_care_is_measured_as_any_other(plain: bool) -> None:
    # a member named toJSON keeps the engine from writing the view by itself
    function = recall(
        "export function fold(view: View, event: Event): View { return [event.data ?? null, view]; }", initial=[]
    )
    history = [{"toJSON": [n], "text": "\u00e9\u2028" * 200, "more": ["x" * 3000, 1.5]} for n in range(5)]
    folding = function.fold(events(*history), plain=plain)
    assert folding.way == ("plain" if plain else "fast")
    assert folding.why_plain == (("asked for",) if plain else ())
    assert [folding.at(n).bytes for n in range(1, 6)] == list(folding.trace["view_bytes"])


def test_a_part_that_must_be_copied_under_the_name_of_the_prototype_is_written_out() -> None:
    # the view stands beside its own parts, so that all is copied: the one under __proto__ cannot be set in its place
    function = recall(
        "export function fold(view: View, event: Event): View {\n  const kept = view as any;\n"
        "  if (event.data === 0) return { part: { k: null }, more: [] } as any;\n"
        "  if (event.data === 1) return { ...kept, part: { k: 0, ['__proto__' as string]: { n: 1 } } } as any;\n"
        "  return [{ ...kept }, kept] as any;\n}",
        initial={},
    )
    history = rk.read_history(events(*range(6)))
    fast, written = (
        fold_history(function.definition, history, way=way, keyframe_every=1) for way in ("fast", "written")
    )
    assert (fast.state, fast.folded, fast.view) == ("live", 6, written.view)
    assert [fast.keyframes.before(n) for n in range(7)] == [written.keyframes.before(n) for n in range(7)]


TINY = (
    "export function fold(view: View, event: Event): View { const kept = view as Json[]; return [...kept, kept]; }",
    "export function fold(view: View, event: Event): View {\n"
    "  return event.data === 1 ? Array.from({ length: 90000 }, () => ({})) : [...(view as Json[]), []]; }",
)


@pytest.mark.parametrize("module", TINY, ids=["doubling", "many at once"])
def test_what_the_fast_way_remembers_takes_no_memory_from_a_fold(module: str) -> None:
    function = recall(module, initial=[])
    history = rk.read_history(events(*range(24)))
    folds = [fold_history(function.definition, history, way=way) for way in (None, "plain", "written")]
    assert len({(fold.state, fold.folded, fold.view) for fold in folds}) == 1
    assert len({fold.stall and (fold.stall.kind, fold.stall.error, fold.stall.seq) for fold in folds}) == 1
    own = rk.Folding(function, folds[0])
    assert own.at(own.folded).text == own.view_text
    assert own.at(own.folded - 1).bytes == own.trace["view_bytes"].iloc[-2]


@pytest.mark.parametrize("module", TINY, ids=["doubling", "many at once"])
def test_nor_in_a_playbook(module: str, tmp_path: Path) -> None:
    function = recall(module, initial=[])
    folding = function.fold(events(*range(24)), plain=True)
    with rk.Playbook(f"sqlite:///{tmp_path / 'playbook.db'}") as playbook:
        playbook.import_history(events(*range(24)))
        playbook.create_definition(type="recall", name="tiny", source=function.definition.source)
        for _ in range(60):  # a busy machine takes several passes for it
            playbook.follow()
            standing = playbook.get_definition(type="recall", name="tiny").standing
            if standing["state"] != "rebuilding":
                break
        assert (standing["state"], standing["folded"]) == (folding.state, folding.folded)
        assert playbook.view("tiny") == folding.view

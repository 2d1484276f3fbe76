"""The recall function format's two example documents: guards, inherited names, and their largest views to the byte."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import recallkit as rk
from recallkit.bounds import VIEW_BYTES

UNKNOWN = "unknown"


def load(path: Path) -> rk.RecallFunction:
    function = rk.load(path)
    assert isinstance(function, rk.RecallFunction)
    return function


@pytest.fixture(scope="module")
def reviews(functions: Path) -> rk.RecallFunction:
    return load(functions / "campaign-reviews.md")


@pytest.fixture(scope="module")
def posts(functions: Path) -> rk.RecallFunction:
    return load(functions / "post-announcement.md")


def succeeded(number: int, name: str, data: Any) -> dict[str, Any]:
    """A run that succeeded, with the address and the time at their fixed lengths."""
    return {
        "specversion": "1.0",
        "id": f"0199a3c4-7d2e-7c1a-8b3f-{number:012x}",
        "type": "run_succeeded",
        "source": f"/runs/0199a3c4-7d2e-7c1a-9b3f-{number:012x}",
        "subject": f"reasoning/{name}",
        "time": f"2026-10-{number // 86_400 + 1:02d}T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:"
        f"{number % 60:02d}.000Z",
        "data": data,
    }


def reviewed(*outputs: Any) -> list[dict[str, Any]]:
    return [succeeded(number, "review-brief", {"output": output}) for number, output in enumerate(outputs)]


# Guard the fold


@pytest.mark.parametrize("output", ["a text", ["a", "list"], 5, None, True, {}, {"campaign": 7}, {"campaign": None}])
def test_an_output_that_names_no_campaign_counts_for_unknown(reviews: rk.RecallFunction, output: Any) -> None:
    """Guard the fold: "An output that is not an object … counts for the campaign unknown. So does a campaign …"."""
    folding = reviews.fold(reviewed(output))
    assert list(folding.view) == [UNKNOWN]
    assert folding.state == "live"


@pytest.mark.parametrize(
    ("verdict", "read"),
    [
        ({}, "none"),
        ({"verdict": 4.50}, "4.5"),
        ({"verdict": [1, {"a": None}]}, '[1,{"a":null}]'),
        ({"verdict": ""}, ""),
    ],
)
def test_a_missing_verdict_reads_none_and_another_value_its_json_text(
    reviews: rk.RecallFunction, verdict: dict[str, Any], read: str
) -> None:
    """Guard the fold: "A missing verdict reads none. A verdict that is not a text … reads as its JSON text."."""
    folding = reviews.fold(reviewed({"campaign": "a", **verdict}))
    assert folding.view["a"][0]["verdict"] == read


def test_an_output_too_large_for_its_event_counts_for_unknown_with_the_verdict_none(reviews: rk.RecallFunction) -> None:
    """Guard the fold: "An output too large for the playbook's event counts for unknown with the verdict none"."""
    folding = reviews.fold([succeeded(1, "review-brief", {"output_bytes": 300_000})])
    assert [entry["verdict"] for entry in folding.view[UNKNOWN]] == ["none"]


def test_the_fold_sorts_by_the_last_review_and_keeps_the_last_50(reviews: rk.RecallFunction) -> None:
    """Guard the fold: "So the fold sorts the campaigns by the time of each one's last review, then keeps the …"."""
    names = [f"c{number:02d}" for number in range(50)]
    folding = reviews.fold(reviewed(*({"campaign": name} for name in [*names, "c00", "new"])))
    assert list(folding.view) == [*names[2:], "c00", "new"]  # c01 was reviewed longest ago


def test_the_last_20_reviews_of_a_campaign_are_kept(reviews: rk.RecallFunction) -> None:
    """A function document: "It keeps the last 20 reviews of each of the 50 campaigns reviewed most recently"."""
    folding = reviews.fold(reviewed(*({"campaign": "a", "verdict": str(number)} for number in range(25))))
    assert [entry["verdict"] for entry in folding.view["a"]] == [str(number) for number in range(5, 25)]


def test_a_run_returns_the_last_few_reviews_five_when_it_does_not_say(reviews: rk.RecallFunction) -> None:
    """A function document: "The input holds the campaign, and optionally last, how many reviews to return"."""
    folding = reviews.fold(reviewed(*({"campaign": "a", "verdict": str(number)} for number in range(9))))

    def told(given: dict[str, Any]) -> list[str]:
        return [entry["verdict"] for entry in reviews.run(folding, given).output]

    assert told({"campaign": "a"}) == ["4", "5", "6", "7", "8"]
    assert told({"campaign": "a", "last": 2}) == ["7", "8"]
    assert told({"campaign": "b"}) == []


# Look up keys with Object.hasOwn


@pytest.mark.parametrize("name", ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"])
def test_an_inherited_name_is_an_entry_of_its_own(reviews: rk.RecallFunction, name: str) -> None:
    """Look up keys: "A campaign named constructor therefore starts with no reviews and keeps an entry of its own"."""
    assert reviews.run(reviews.fold([]), {"campaign": name}).output == []
    folding = reviews.fold(
        reviewed(*({"campaign": each, "verdict": each} for each in [name, "other", name])),
    )
    assert folding.state == "live"
    assert list(folding.view) == ["other", name]
    assert f'"{name}":[' in folding.view_text
    assert [entry["verdict"] for entry in reviews.run(folding, {"campaign": name}).output] == [name, name]
    # as the view stood after each event, the entry is there too, and a change of it is a step of its own
    assert [list(folding.at(number).view) for number in range(4)] == [[], [name], [name, "other"], ["other", name]]


NAIVE = """---
language: typescript
source: { events: [{ type: t }] }
view: { initial: {}, schema: { type: object, additionalProperties: { type: array } } }
input: { schema: { type: object, required: [key], properties: { key: { type: string } } } }
---
export function fold(view: View, event: Event): View {
  const key = String(event.data);
  WRITE
}

export function answer(view: View, input: Input): Output {
  return (view[input.key] ?? []).slice(-1);
}
"""
SPREADS = NAIVE.replace("WRITE", "return { ...view, [key]: [...(view[key] ?? []), 1] };")
ASSIGNS = NAIVE.replace("WRITE", "view[key] = [1];\n  return view;")


def one(data: Any) -> list[dict[str, Any]]:
    return [{"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": data}]


def test_a_fold_that_reads_an_inherited_name_stalls_and_an_answer_ends_unworkable() -> None:
    """Look up keys: "A fold that spreads it into a list raises an error and stalls the view. An answer that …"."""
    function = rk.load(SPREADS)
    assert isinstance(function, rk.RecallFunction)
    folding = function.fold(one("constructor"))
    assert folding.stall is not None
    assert (folding.stall.kind, folding.stall.line) == ("raised", 9)
    assert folding.stall.error.startswith("TypeError")
    run = function.run(function.fold([]), {"key": "toString"})
    assert (run.ending, run.kind) == ("conflict", "unworkable")
    assert "on line 13: TypeError" in run.detail


def test_an_assignment_changes_the_prototype_instead() -> None:
    """Look up keys: "An assignment such as view[campaign] = reviews would change the object's prototype instead"."""
    function = rk.load(ASSIGNS)
    assert isinstance(function, rk.RecallFunction)
    folding = function.fold(one("__proto__"))
    assert folding.stall is not None  # the view is no plain object any more
    assert folding.stall.kind == "unfit"
    assert function.fold(one("constructor")).view == {"constructor": [1]}


# Bound the size of the view

# Characters that JSON writes in 6 bytes: control characters without a short escape of their own.
SIX = [chr(code) for code in [*range(8), 11, *range(14, 32)]]


def test_the_sizes_of_the_parts_are_as_the_table_works_them_out() -> None:
    """Bound the size: the table of "The largest view, in bytes of JSON", row by row."""
    verdict = 60 * 6 + 2
    review = verdict + 24 + 42 + 29
    campaign = 20 * review + 19 + 2
    name = 100 * 6 + 2
    entry = name + 1 + campaign
    assert (verdict, review, campaign, name, entry) == (362, 457, 9_161, 602, 9_764)
    assert 50 * entry + 49 + 2 == 488_251 < VIEW_BYTES == 524_288


def test_a_history_reaches_the_largest_view_to_the_byte_and_does_not_stall(reviews: rk.RecallFunction) -> None:
    """Bound the size: "So the view takes at most 488,251 bytes, about 477 KiB, under the 524,288 a view may take"."""
    names = ["".join(pair) + SIX[5] * 120 for pair in itertools.islice(itertools.product(SIX, SIX), 50)]
    history = reviewed(*({"campaign": names[number % 50], "verdict": SIX[9] * 80} for number in range(1_050)))
    folding = reviews.fold(history)
    assert folding.state == "live"
    assert folding.folded == 1_050
    assert folding.trace.view_bytes.max() == 488_251
    assert len(folding.view_text.encode()) == 488_251
    assert folding.trace.checkpoints.max() == 0  # "Each fold spent no checkpoint"
    assert [len(kept) for kept in folding.view.values()] == [20] * 50


def test_the_plain_way_gives_the_same_view(reviews: rk.RecallFunction) -> None:
    """Bound the size: "checked after every fold": the same with the whole view checked, for fewer campaigns."""
    names = ["".join(pair) + SIX[5] * 98 for pair in itertools.islice(itertools.product(SIX, SIX), 6)]
    history = reviewed(*({"campaign": names[number % 6], "verdict": SIX[9] * 60} for number in range(130)))
    plain = reviews.fold(history, plain=True)
    assert plain.view_text == reviews.fold(history).view_text
    assert plain.trace.view_bytes.iloc[-1] == 6 * 9_764 + 5 + 2


def test_slice_counts_utf16_units_so_an_emoji_takes_two(reviews: rk.RecallFunction) -> None:
    """Bound the size: "slice counts UTF-16 code units, so an emoji takes two. JSON writes each unit in at most 6"."""
    folding = reviews.fold(reviewed({"campaign": "😀" * 80, "verdict": "😀" * 80}))
    ((name, (entry,)),) = folding.view.items()
    assert (name, entry["verdict"]) == ("😀" * 50, "😀" * 30)


def test_two_names_that_agree_in_their_first_100_characters_share_one_entry(reviews: rk.RecallFunction) -> None:
    """Bound the size: "answer cuts the campaign it is given at 100 characters too … share one entry"."""
    folding = reviews.fold(reviewed({"campaign": "n" * 100 + "a"}, {"campaign": "n" * 100 + "b"}, "no object"))
    assert list(folding.view) == ["n" * 100, UNKNOWN]
    assert len(reviews.run(folding, {"campaign": "n" * 130}).output) == 2
    # "So do a campaign named unknown and outputs that name no campaign"
    assert len(reviews.run(reviews.fold(reviewed({"campaign": UNKNOWN}, 5)), {"campaign": UNKNOWN}).output) == 2


# Keep what one function returned


def posted(number: int, output: Any) -> dict[str, Any]:
    return succeeded(number, "post-announcement", {"output": output})


def test_a_history_reaches_the_second_examples_largest_view_to_the_byte(posts: rk.RecallFunction) -> None:
    """Keep what one function returned: "An entry then takes at most 8,286 bytes … at most 50 × 8,286 + 51 = …"."""
    assert 8_192 + 24 + 42 + 28 == 8_286
    largest = "€" * 2_730  # 3 bytes each, and 2 quotes: 8,192 as JSON
    folding = posts.fold([posted(number, largest) for number in range(60)])
    assert folding.state == "live"
    assert folding.trace.view_bytes.max() == len(folding.view_text.encode()) == 414_351
    assert folding.trace.checkpoints.max() <= 500
    assert all(entry["output"] == largest for entry in folding.view)


@pytest.mark.parametrize(("length", "kept"), [(8_190, True), (8_191, False)])
def test_an_output_of_8192_bytes_is_kept_and_a_larger_one_is_null(
    posts: rk.RecallFunction, length: int, kept: bool
) -> None:
    """Keep what one function returned: "An output larger than 8 KiB (8,192 bytes) as JSON … is kept as null"."""
    (entry,) = posts.fold([posted(1, "x" * length)]).view
    assert (entry["output"] is not None) == kept


def test_the_last_50_are_kept_oldest_first_whoever_started_them(posts: rk.RecallFunction) -> None:
    """Keep what one function returned: "the last 50, oldest first"; "whoever started it"."""
    history = [{**posted(number, number), "caller": f"caller-{number % 3}"} for number in range(55)]
    history.append(succeeded(60, "another", {"output": "not this function's"}))
    folding = posts.fold(history)
    assert [entry["output"] for entry in folding.view] == list(range(5, 55))
    assert posts.run(folding).output == folding.view

"""How public objects show themselves: well in a notebook, shortly and the same each time in text, never as markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from scrubbed import reviews, stalled

import recallkit as rk
from recallkit.notebook.html import history_html
from recallkit.notebook.markdown import inline, to_html
from recallkit.notebook.pictures import sparkline

MARKUP = "<img src=x onerror=alert(1)>"


class Shown(HTMLParser):
    """The elements and the words of some HTML; complains where tags do not close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        if tag not in ("rect", "path", "polyline", "polygon", "br"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "path", "polyline", "polygon"):
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def refused(text: str) -> rk.Refused:
    with pytest.raises(rk.Refused) as caught:
        rk.load(text)
    return caught.value


def test_a_function_shows_its_picture_and_its_overview() -> None:
    shown = Shown(reviews().function._repr_html_())
    assert "svg" in shown.tags
    assert "each time a run of the reasoning function review-brief succeeds" in shown.words
    assert "run_succeeded reasoning/review-brief" in shown.words
    assert "Answer" in shown.words


def test_a_picture_with_several_filters_draws_each(campaign_reviews: str) -> None:
    more = campaign_reviews.replace(
        "source:\n  events:\n", "source:\n  events:\n    - type: run_failed\n    - type: order_placed\n"
    )
    html = rk.load(more)._repr_html_()
    assert html.count("<rect") == 6
    assert "run_failed to View" in html


def test_a_history_shows_counts_and_span() -> None:
    shown = Shown(reviews().history._repr_html_())
    assert "History of 301 events" in shown.words
    assert "run_succeeded108" in shown.words.replace(",", "")
    assert "from 2026-07-01" in shown.words


def test_histories_without_events_or_times() -> None:
    assert "History of 0 events" in Shown(history_html(rk.read_history([]))).words
    timeless = rk.read_history([{"specversion": "1.0", "id": "1", "type": MARKUP, "source": "/s"}])
    shown = Shown(history_html(timeless))
    assert "without times" in shown.words
    assert MARKUP in shown.words
    assert "img" not in shown.tags


def test_many_types_are_summed_up() -> None:
    events = [{"specversion": "1.0", "id": str(n), "type": f"t{n}", "source": "/s"} for n in range(40)]
    assert "and 28 more types28" in Shown(history_html(rk.read_history(events))).words


def test_a_folding_shows_its_standing_and_a_sparkline() -> None:
    shown = Shown(reviews()._repr_html_())
    assert "live" in shown.words
    assert "81 of 301 events" in shown.words
    assert "polyline" in shown.tags
    assert repr(reviews()) == "<Folding live: 81 of 301 events folded, the view takes 9,595 bytes>"


def test_a_folding_that_matched_nothing_says_so(campaign_reviews: str) -> None:
    folding = rk.load(campaign_reviews).fold([{"specversion": "1.0", "id": "1", "type": "other", "source": "/s"}])
    assert "no event matched any filter" in Shown(folding._repr_html_()).words


def test_a_stall_shows_the_line_with_a_caret() -> None:
    stall = stalled().stall
    shown = Shown(stall._repr_html_())
    assert f"on line {stall.line}" in shown.words
    line = stalled().function.source.split("\n")[stall.line - 1]
    assert f"{stall.line:>5}  {line}"[:100] in shown.words
    assert "^^^" in shown.words
    assert MARKUP in shown.words
    assert "img" not in shown.tags
    assert "script" not in shown.tags


def test_a_stall_of_size_shows_the_heaviest_paths(campaign_reviews: str) -> None:
    big = campaign_reviews.replace(
        "): View {",
        "): View {\n  if (event.type !== '') return { big: [], x: 'y'.repeat(600000) } as unknown as View;",
        1,
    )
    folding = rk.load(big).fold(reviews().history)
    assert folding.stall.kind == "size"
    shown = Shown(folding.stall._repr_html_())
    assert "600," in shown.words
    assert "x" in shown.words


def test_a_run_shows_its_ending_and_its_output() -> None:
    run = reviews().function.run(reviews(), {"campaign": "spring-sale", "last": 1})
    shown = Shown(run._repr_html_())
    assert "succeeded" in shown.words
    assert '"verdict"' in shown.words
    assert repr(run) == "<Run succeeded>"
    wrong = reviews().function.run(reviews(), {"campaign": 3})
    assert "/campaign" in Shown(wrong._repr_html_()).words
    assert "invalid_input" in repr(wrong)


def test_a_refusal_shows_the_document_with_its_problems_marked(campaign_reviews: str) -> None:
    error = refused(campaign_reviews.replace("named.slice", "named.slise"))
    problem = error.problems[0]
    html = error._repr_html_()
    shown = Shown(html)
    assert problem.words in shown.words
    lines = shown.words.split("\n")
    row = next(place for place, line in enumerate(lines) if line.lstrip().startswith(f"{problem.line}  "))
    assert lines[row + 1].index("^") == 7 + problem.column - 1
    assert re.match("<Refused with [0-9]+ errors?: line ", repr(error))


def test_the_caret_counts_as_the_compiler_does(campaign_reviews: str) -> None:
    error = refused(
        campaign_reviews.replace("  const output", "  /* 😀 */ const wrong: number = 'one';\n  const output")
    )
    lines = Shown(error._repr_html_()).words.split("\n")
    row = next(place for place, line in enumerate(lines) if "😀" in line and "^" not in line)
    assert lines[row + 1].index("^") == lines[row].index("wrong")


def test_a_refusal_of_markup_is_text() -> None:
    error = refused(f"---\n{MARKUP}: 1\n---\nexport function fold() {{ {MARKUP} }}\n")
    shown = Shown(error._repr_html_())
    assert "img" not in shown.tags
    assert MARKUP in shown.words


def test_markup_in_a_description_is_text(campaign_reviews: str) -> None:
    loaded = rk.load(campaign_reviews.replace("The reviews of each campaign", f"'{MARKUP} &amp; <b>*x*</b>' #"))
    shown = Shown(loaded._repr_html_())
    assert "img" not in shown.tags
    assert f"{MARKUP} &amp; <b>*x*</b>" in shown.words


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (r"a \<b\> \*c\*", "a &#60;b&#62; &#42;c&#42;"),
        ("**bold** and `co<de`", "<strong>bold</strong> and <code>co&lt;de</code>"),
        ("`` a`b ``", "<code>a`b</code>"),
        ("x & y &amp; z", "x &amp; y &amp; z"),
        (r"\`not code\`", "&#96;not code&#96;"),
        ("`a\\*b`", "<code>a\\*b</code>"),
        ("<script>", "&lt;script&gt;"),
    ],
)
def test_inline_markdown(markdown: str, html: str) -> None:
    assert inline(markdown) == html


def test_markdown_blocks() -> None:
    html = to_html("one\ntwo\n\n- a\n  - b\n- c\n\n````text\n```\n<x>\n````\n\nend\n")
    assert re.sub(r" style='[^']*'", "", html) == (
        "<p>one two</p><ul><li>a</li><ul><li>b</li></ul><li>c</li></ul><pre>```\n&lt;x&gt;</pre><p>end</p>"
    )


def test_sparklines_of_any_length() -> None:
    import numpy as np

    for count in (1, 2, 240, 100_000):
        drawn = sparkline(np.arange(count), "#000")
        assert len(drawn) < 9_000
        Shown(drawn)


def test_text_is_short_and_the_same_each_time(functions: Path) -> None:
    def every() -> list[str]:
        fn: Any = rk.load(functions / "campaign-reviews.md")
        folding = fn.fold(reviews().history)
        run = fn.run(folding, {"campaign": "spring-sale"})
        told = [
            fn,
            folding,
            folding.history,
            folding.at(4),
            run,
            folding.scrub(),
            folding.charts,
            folding.charts.work(),
        ]
        return [repr(each) for each in [*told, stalled().stall]]

    first = every()
    assert first == every()
    assert all(len(text) < 400 and " at 0x" not in text for text in first)


def test_html_is_the_same_each_time(functions: Path) -> None:
    def every() -> list[str]:
        fn: Any = rk.load(functions / "campaign-reviews.md")
        folding = fn.fold(reviews().history)
        run = fn.run(folding, {"campaign": "spring-sale"})
        return [each._repr_html_() for each in (fn, folding, folding.history, run)]

    assert every() == every()

"""The checks of the lessons' exercises, in the order of the lessons; each gives None, or the word that helps.

Where a document is asked for, it is folded here over events that the lesson does not show, and what helps is the first
event at which it does something else.
"""

from __future__ import annotations

import json
from typing import Any, Final

from recallkit.bounds import VIEW_BYTES
from recallkit.notebook.exercises import exercise

Event = dict[str, Any]


def events(*given: Event, type: str = "run_succeeded", subject: str | None = "reasoning/review-brief") -> list[Event]:
    """Events a minute apart; each given one changes what is usual."""
    made = []
    for number, more in enumerate(given):
        usual: Event = {"specversion": "1.0", "id": f"e{number}", "type": type, "source": f"/runs/{number}"}
        if subject is not None:
            usual["subject"] = subject
        usual["time"] = f"2026-10-01T{number // 60 % 24:02d}:{number % 60:02d}:00.000Z"
        made.append({**usual, **more})
    return made


def output(value: Any) -> Event:
    return {"data": {"output": value}}


def shown(value: Any, most: int = 160) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def folded(function: Any, history: list[Event], about: dict[str, str] | None = None) -> tuple[Any, str | None]:
    """Fold; gives the folding, and where it stalled what helps."""
    from recallkit.functions import RecallFunction

    if not isinstance(function, RecallFunction):
        raise TypeError("a recall function is asked for, such as %%recall makes")
    folding = function.fold(history, progress=False, trace=False)
    if folding.stall is None:
        return folding, None
    what = (about or {}).get(str(folding.stall.event["id"]), "")
    data = shown(history[folding.stall.seq].get("data"))
    return folding, f"It stalls ({folding.stall.kind}) at an event with the data {data}{what}: {folding.stall.error}"


def number(answer: Any) -> float:
    if isinstance(answer, bool) or not isinstance(answer, (int, float)):
        raise TypeError("a number is asked for")
    return answer


def names(answer: Any, wanted: set[str], among: str) -> str | None:
    """Compare a choice of names with the right one."""
    given = {answer} if isinstance(answer, str) else set(answer)
    wrong, missing = given - wanted, wanted - given
    if wrong:
        return f"{sorted(wrong)[0]} is none of them. {among}"
    if missing:
        return f"{'One is' if len(missing) == 1 else f'{len(missing)} are'} missing. {among}"
    return None


# 1. The tour


@exercise("1.1", "The column is view_bytes; the trace's row 0 is the view after 1 folded event.")
def first_past_1000(answer: Any, *, folding: Any) -> str | None:
    past = folding.trace["view_bytes"] > 1_000
    wanted = int(past.idxmax()) + 1 if past.any() else None
    given = number(answer)
    if wanted is None:
        return "This view never takes more than 1,000 bytes; fold the lesson's own history."
    if given == wanted:
        return None
    if given == wanted - 1:
        return "Nearly: the trace's row 0 is the view after 1 folded event."
    return f"After {given:,} folded events it is not so for the first time; look for the first row past 1,000."


@exercise("1.2", "folding.trace has the columns steps and event_id; idxmax() gives the row of the most.")
def busiest(answer: Any, *, folding: Any) -> str | None:
    trace = folding.trace
    if not isinstance(answer, str):
        raise TypeError("an event's id is asked for, a text")
    steps = trace.loc[trace["event_id"] == answer, "steps"]
    if not len(steps):
        return "No folded event has this id. The id stands in the column event_id, in the row of the most steps."
    most = trace["steps"].max()
    if int(steps.max()) == most:
        return None
    return f"That fold took {steps.max():,} steps; another took {most:,}."


# 2. Folding step by step


@exercise("2.1", "folding.at(n).view is the view after n folded events; count its members.")
def first_with_three(answer: Any, *, folding: Any) -> str | None:
    wanted = next((n for n in range(folding.folded + 1) if len(folding.at(n).view) >= 3), None)
    given = number(answer)
    if given == wanted:
        return None
    if not 0 <= given <= folding.folded:
        return f"The view was folded from {folding.folded} events: the answer is from 0 to {folding.folded}."
    has = len(folding.at(int(given)).view)
    return f"After {answer} folded events the view has {has} members" + (
        "; was there no earlier moment with three?" if has >= 3 else "; look further on."
    )


@exercise("2.2", "Name three types under source.events, and count by event.type.", "The filter names the types.")
def endings(answer: Any) -> str | None:
    types = ["run_succeeded", "run_failed", "run_started", "run_succeeded", "run_rejected", "tick", "run_rejected"]
    history = events(*({"type": each} for each in types))
    _, stalled = folded(answer, history)
    if stalled:
        return stalled
    wanted: dict[str, int] = {}
    for place, each in enumerate(types):
        if each in ("run_succeeded", "run_failed", "run_rejected"):
            wanted[each] = wanted.get(each, 0) + 1
        view = answer.fold(history[: place + 1], progress=False, trace=False).view
        if view != wanted:
            told = "is no ending of a run" if each in ("run_started", "tick") else "is one"
            return f"After an event of the type {each}, which {told}, the view is {shown(view)}, not {shown(wanted)}."
    return None


# 3. Guarding a fold

INHERITED: Final = {"constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"}


@exercise("3.1", "Give a list of names, such as ['constructor'].", "Any of them may come out of a model one day.")
def inherited(answer: Any) -> str | None:
    return names(answer, INHERITED, "Try each: a name is inherited where ({})[name] is something.")


@exercise("3.2", "Guard the output, the region and the score.", "It takes whatever a model returns.")
def guarded_scores(answer: Any) -> str | None:
    given: list[Any] = [
        {"region": "eu", "score": 3},
        "no object at all",
        None,
        ["eu", 3],
        {"region": 7, "score": 1},
        {"region": "eu", "score": "high"},
        {"region": "constructor", "score": 2},
        {"region": "__proto__", "score": 5},
        {"region": "eu", "score": 4},
        {"region": "__proto__", "score": 1},
    ]
    folding, stalled = folded(answer, events(*map(output, given)))
    if stalled:
        return stalled
    wanted = {"eu": 7, "constructor": 2, "__proto__": 6}
    for name, total in wanted.items():
        if folding.view.get(name) != total:
            has = shown(folding.view.get(name)) if name in folding.view else "no entry"
            return f"The scores of {name} that are numbers add up to {total}; the view has {has} for it."
    more = sorted(set(folding.view) - set(wanted))
    if more:
        return f"The view has an entry {more[0]} too; an output without a region or a score counts for none."
    return None


# 4. Bounding a view


@exercise("4.1", "Work from the inside out: the verdict, the review, the list, the entry, the view.")
def larger_bound(answer: Any) -> str | None:
    review = (100 * 6 + 2) + 24 + 42 + 29
    entry = (40 * 6 + 2) + 1 + (10 * review + 9 + 2)
    wanted = 60 * entry + 59 + 2
    given = number(answer)
    if given == wanted:
        return None
    near = {
        60 * entry: "the view's 59 commas and 2 braces are missing",
        60 * entry + 2: "the view's 59 commas are missing",
        60 * entry + 60 + 2: "60 entries stand with 59 commas between them",
        60 * (entry - 1) + 61: "the colon after each name is missing",
    }
    if given in near:
        return f"Nearly: {near[int(given)]}."
    return f"A review takes {review} bytes; from there, {'less' if given > wanted else 'more'} than your answer."


@exercise("4.2", "Cut the texts and the lists, and say the same in view.schema.", "It can never stall for its size.")
def bounded_log(answer: Any) -> str | None:
    worst = "\x01" * 2_000
    history = events(*(output({"topic": f"{n % 90:02d}{worst}", "note": f"{n} {worst}"}) for n in range(2_000)))
    folding, stalled = folded(answer, history)
    if stalled:
        return f"With 90 topics and texts of 2,000 control characters: {stalled.partition(': ')[2] or stalled}"
    size = len(folding.view_text.encode())
    if size > VIEW_BYTES:
        return f"The view takes {size:,} bytes."
    small = events(*(output({"topic": "a", "note": f"note {n}"}) for n in range(3)))
    view = answer.fold(small, progress=False, trace=False).view
    if view.get("a") != ["note 0", "note 1", "note 2"]:
        return f"Of three short notes of one topic it keeps {shown(view.get('a'))}; they fit: keep all, in order."
    return None


# 5. Work, memory and time


@exercise("5.1", "A turn takes two steps, and a fold may spend 500 checkpoints of 10,000 steps.")
def most_turns(answer: Any, *, spin: Any) -> str | None:
    given = int(number(answer))
    if given < 0:
        return "A loop turns from 0 times on."
    if given > 10_000_000:
        return "That is far past the bound: 500 checkpoints are 5,000,000 steps."
    for turns, should_stall in ((given, False), (given + 20_000, True)):
        stalled = spin.fold(events({"data": turns}, type="spin", subject=None), progress=False).stall is not None
        if stalled != should_stall:
            return f"A loop of {turns:,} turns {'stalls' if stalled else 'still folds'}."
    return None


@exercise(
    "5.2", "Keep the sum and the count in the view, and let each fold add one event.", "Each fold costs the same."
)
def constant_work(answer: Any) -> str | None:
    history = events(*({"data": {"ms": n % 17}} for n in range(600)), type="request.served", subject=None)
    folding, stalled = folded(answer, history)
    if stalled:
        return stalled
    count, total = len(history), sum(each["data"]["ms"] for each in history)
    run = answer.run(folding, {})
    if not run.ok:
        return f"A run does not succeed: {run.detail}"
    if run.output != {"count": count, "mean": total // count}:
        return (
            f"A run over 600 events returns {shown(run.output)}, not {shown({'count': count, 'mean': total // count})}."
        )
    steps = folding._fold.ledger.column("steps")
    if steps[-50:].max() > steps[50:100].max() + 50:
        first, last = int(steps[50:100].max()), int(steps[-50:].max())
        return f"The work still grows with the history: {first:,} steps about the 100th fold, {last:,} at the end."
    return None


# 6. Numbers and dates


@exercise("6.1", "Turn each amount into cents with Math.round, or round(), before you add.")
def cents(answer: Any, *, amounts: list[float]) -> str | None:
    wanted = sum(round(each * 100) for each in amounts)
    if answer == wanted and isinstance(answer, int):
        return None
    if answer == wanted:
        return "The number is right; let it be a whole number of cents."
    if number(answer) * 100 == wanted or abs(number(answer) * 100 - wanted) < 1:
        return "That is in whole units; cents are asked for."
    return "Round each amount to cents first, then add: the sum is then exact."


@exercise("6.2", "new Date(event.time).toISOString().slice(0, 7) is the month in UTC.", "The month is that of UTC.")
def months(answer: Any) -> str | None:
    given = [
        ("2026-01-31T23:30:00Z", 0.1, "2026-01"),
        ("2026-02-01T00:30:00+02:00", 0.2, "2026-01"),
        ("2026-01-31T23:30:00-02:00", 1.005, "2026-02"),
        ("2026-02-28T12:00:00.123456789Z", 70.1, "2026-02"),
        ("2026-03-01T00:00:00Z", 19.99, "2026-03"),
    ]
    history = events(
        *({"time": time, "data": {"amount": amount}} for time, amount, _ in given), type="paid", subject=None
    )
    wanted: dict[str, int] = {}
    for place, (time, amount, month) in enumerate(given):
        # 1.005 is stored a little below, so that rounding gives 100: the same in the engine and here
        wanted[month] = wanted.get(month, 0) + int(amount * 100 + 0.5)
        folding, stalled = folded(answer, history[: place + 1])
        if stalled:
            return stalled
        if folding.view != wanted:
            return f"After {amount} paid at {time} the view is {shown(folding.view)}, not {shown(wanted)}."
    return None


# 7. Determinism and pages

REFUSED_LINES: Final = {"let seen = 0;", "const dice = Math.random();", "console.log(view);", "fetch('/more');"}


@exercise("7.1", "Give a list of the lines that rk.check refuses.", "What the sandbox lacks, the compiler lacks.")
def refused_lines(answer: Any) -> str | None:
    return names(answer, REFUSED_LINES, "rk.check(document) says of each line whether it is refused.")


@exercise("7.2", "Make a number of the letters of event.id, and take its remainder.", "The same one in ten everywhere.")
def sampled(answer: Any) -> str | None:
    history = events(*({"id": f"0199a3c4-7d2e-{n * 7919 % 65536:04x}-{n:012d}"} for n in range(2_000)))
    folding, stalled = folded(answer, history)
    if stalled:
        return stalled
    again = answer.fold(history, page=7, progress=False, trace=False)
    if again.view_text != folding.view_text:
        return "Pages of 7 and of 1,000 events give two views."
    view = folding.view
    if not isinstance(view, dict) or not {"seen", "kept"} <= view.keys():
        return f"The view is {shown(view)}; it has the members seen and kept."
    if view["seen"] != 2_000:
        return f"Of 2,000 events {view['seen']} were seen."
    if not 100 <= view["kept"] <= 300:
        return f"Of 2,000 events {view['kept']} were kept; about 200 are one in ten."
    shifted = [{**each, "time": "2026-11-11T11:11:11Z"} for each in history]
    if answer.fold(shifted, progress=False, trace=False).view["kept"] != view["kept"]:
        return "It takes others when the events come at another time: go by the id, which is an event's own."
    return None


# 9. A history of your own


@exercise("9.1", "history.where(type=...).events has what you need; data is JSON text.")
def failing_tool(answer: Any, *, history: Any) -> str | None:
    def tools(kind: str) -> list[str]:
        return [
            json.loads(text)["tool"] for text in history.where(type=f"com.example.agent.tool.{kind}").events["data"]
        ]

    called, failed = tools("called"), tools("failed")
    shares = {tool: failed.count(tool) / called.count(tool) for tool in set(called)}
    if answer not in shares:
        return f"The agent has no tool {answer}; its tools are {', '.join(sorted(shares))}."
    if shares[answer] == max(shares.values()):
        return None
    return f"{answer} failed for {shares[answer]:.1%} of its calls; another one failed for more."


@exercise("9.2", "A call is open from tool.called until tool.answered or tool.failed of the same data.call.")
def open_calls(answer: Any) -> str | None:
    def agent(kind: str, **data: Any) -> Event:
        return {"type": f"com.example.agent.{kind}", "data": data, "subject": "run-1"}

    steps = [
        (agent("tool.called", call="c1", tool="refund"), {"c1": "refund"}),
        (agent("tool.called", call="c2", tool="list_seats"), {"c1": "refund", "c2": "list_seats"}),
        (agent("tool.answered", call="c1", tool="refund"), {"c2": "list_seats"}),
        (agent("message.user", content="still there?"), {"c2": "list_seats"}),
        (agent("tool.called", call="constructor", tool="refund"), {"c2": "list_seats", "constructor": "refund"}),
        (agent("tool.failed", call="c2", tool="list_seats"), {"constructor": "refund"}),
        (agent("tool.answered", call="unheard-of", tool="refund"), {"constructor": "refund"}),
    ]
    history = events(*(event for event, _ in steps))
    for place, (event, wanted) in enumerate(steps):
        folding, stalled = folded(answer, history[: place + 1])
        if stalled:
            return stalled
        if folding.view != wanted:
            told = event["type"].removeprefix("com.example.agent.")
            return f"After {told} with {shown(event['data'])} the view is {shown(folding.view)}, not {shown(wanted)}."
    return None


# 14. Computations


@exercise("14.1", "Multiply first, divide then, and floor at the end.")
def projection(answer: Any) -> str | None:
    wanted = 223_050 * 31 // 12
    if answer == wanted:
        return None
    if answer == 223_050 // 12 * 31:
        return "Nearly: the division came first, and its remainder was lost. Multiply before you divide."
    return "The spend of 223,050 cents after 12 days, over 31 days: spend times days_total by days_elapsed, floored."


@exercise("14.2", "Give the function output.shape: categories, and one entry a campaign.", "Any chart can draw it.")
def shaped(answer: Any) -> str | None:
    from recallkit.functions import ComputationFunction

    if not isinstance(answer, ComputationFunction):
        raise TypeError("a computation function is asked for, such as %%computation makes")
    if answer.shape != "categories":
        return f"Its output has the shape {answer.shape}; write output: {{ shape: categories }} in the front matter."
    for rows in ([], [("b", 250), ("a", 100), ("b", 1)], [("constructor", 5), ("__proto__", 7), ("constructor", 1)]):
        run = answer.run({"rows": [{"campaign": name, "cost_cents": cost} for name, cost in rows]})
        if not run.ok:
            return f"With the rows {shown(rows)} the run ends {run.ending}: {run.detail or run.problems}"
        totals: dict[str, int] = {}
        for name, cost in rows:
            totals[name] = totals.get(name, 0) + cost
        given = {each["category"]: each["value"] for each in run.output}
        if given != totals:
            return f"With the rows {shown(rows)} it returns {shown(given)}, not {shown(totals)}."
    return None


# 15. The size of a view


@exercise("15.1", "Spread what is kept into a new list, and cut that; never push.", "What it keeps is checked once.")
def fast(answer: Any) -> str | None:
    amounts = [{"data": value} for value in (*range(105), "12", None, {"cents": 5})]
    for count in (0, 1, 100, len(amounts)):
        folding, stalled = folded(answer, events(*amounts[:count], type="paid"))
        if stalled:
            return stalled
        wanted = {"last": [each["data"] for each in amounts[:count]][-100:]}
        if folding.view != wanted:
            return f"After {count} events the view is {shown(folding.view)}, not {shown(wanted)}."
        if folding.way != "fast":
            return f"The view is right, and the way is {folding.way}: {'; '.join(folding.why_owned)}."
    return None

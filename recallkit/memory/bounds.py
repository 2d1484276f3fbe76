"""Every number of the three recall systems, named once.

*signals*, *team* and *facts* are the three specifications; *notes* what was settled where they are silent; *own* is the
kit's.
"""

from __future__ import annotations

from typing import Final

from recallkit.bounds import EVENT_BYTES, KIB

# What is written (own: an event of a playbook holds EVENT_BYTES, and a text may need six bytes a character as JSON)
NAME_CHARACTERS: Final = 256  # a namespace, an actor, a session, a space, a tag …
TEXT_BYTES: Final = 64 * KIB
QUERY_CHARACTERS: Final = 2_000
TAGS: Final = 64
WRITTEN_EVENT_BYTES: Final = EVENT_BYTES

# Signals (notes)
SIGNAL_LIMIT: Final = 10
SIGNAL_LIMIT_MOST: Final = 100
LEASE_SECONDS: Final = 300.0  # own: how long a claim holds when nothing is said
LEASE_SECONDS_MOST: Final = 7 * 24 * 3_600.0  # own
EVIDENCE_LABELS: Final = ("model", "harness", "chat_template")
EVIDENCE_BYTES: Final = 16 * KIB  # own: a chat template is a text of some pages

# Team memory (team, Parameters)
TEAM_LIMIT: Final = 10
TEAM_LIMIT_MOST: Final = 50
SUPERSEDED_AT_ONCE: Final = 32  # own
MEMBERS_AT_ONCE: Final = 256  # own

# Facts (facts, Options; the rest own)
FACT_LIMIT: Final = 50
FACT_LIMIT_MOST: Final = 1_000
PATH_CHARACTERS: Final = 1_024
READERS: Final = 256
FACT_TEXT_CHARACTERS: Final = 4_000
FACTS_OF_A_COMMIT: Final = 10_000
HALF_LIFE_DAYS: Final = 30.0  # an access counts half after so long
PIN_SALIENCE: Final = 1_000.0  # above what accesses reach
SENTENCES: Final = 12  # of the default synthesis

# Search (notes: the retrievers that were measured)
BM25_K1: Final = 1.2
BM25_B: Final = 0.75
MEANING_WEIGHT: Final = 0.5
NEIGHBOUR_WEIGHT: Final = 0.4
RANK_FUSION_K: Final = 60
MEANING_FLOOR: Final = 0.2  # own: a text that shares no word with the query is a hit only above this cosine
SCORE_DIGITS: Final = 6

# The retrieval benchmark (issue: recall at these many)
RECALL_AT: Final = (5, 10, 25, 50)
PHRASE_PARTS: Final = 64  # own: a longer query is not looked for word for word
LITERALS_CHECKED: Final = 1_000  # own: a literal that more texts have is no rare one, and is not read letter by letter

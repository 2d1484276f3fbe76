"""Every number of the formats, named once.

The comment beside each number says where it stands: *recall* and *computation* are the two format
documents, with the section. Other modules import from here and repeat none of them.
"""

from __future__ import annotations

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# Documents (recall and computation, Bounds)
DOCUMENT_BYTES: Final = 65_536
DESCRIPTION_CHARACTERS: Final = 1_000
FILTERS: Final = 8
ATTRIBUTE_CHARACTERS: Final = 20
ASSIGNMENTS: Final = 500
CHECK_SECONDS: Final = 2.0
CHECKER_START_SECONDS: Final = 60.0  # our own: how long Node and the compiler may take to get ready
CHECKER_HEAP_MIB: Final = 1_024  # our own: a check that needs more runs out of its time first
FRONT_MATTER_LEVELS: Final = 72
PROBLEMS_TOLD: Final = 20
LANGUAGE: Final = "typescript"

# Values (recall and computation, Bounds)
LEVELS: Final = 512
VIEW_BYTES: Final = 512 * KIB
EXACT_INTEGER: Final = 2**53

# Work (recall, Bounds; computation, Bounds)
STEPS_PER_CHECKPOINT: Final = 10_000
FOLD_CHECKPOINTS: Final = 500
FILTER_CHECKPOINTS: Final = 500
ANSWER_CHECKPOINTS: Final = 500
PROGRAM_CHECKPOINTS: Final = 20_000

# Memory and stack (recall and computation, Bounds)
FOLD_MEMORY_BYTES: Final = 64 * MIB
RUN_MEMORY_BYTES: Final = 256 * MIB
STACK_BYTES: Final = 1 * MIB

# Time (recall and computation, Bounds)
FOLD_SECONDS: Final = 10.0
RUN_SECONDS: Final = 10.0
PAGE_SECONDS: Final = 2.0
OVERTIMES: Final = 20
CRASHES: Final = 20

# Pages (recall, How the view is kept)
PAGE_RECORDS: Final = 1_000
PAGE_MS: Final = 5.0  # our own: reading a page and writing its view, beside the folds, where nobody measured it
PAGES_PER_PASS: Final = 10
PASS_SECONDS: Final = 1.0
PLAYBOOKS_AT_ONCE: Final = 4
RECALL_MAX_FUNCTIONS: Final = 32
RECALL_MAX_REBUILDS: Final = 4
RUNS_AT_ONCE: Final = 4
RETRY_AFTER_SECONDS: Final = 5

# Runs (recall and computation, Bounds)
INPUT_BYTES: Final = 256 * KIB
RUN_BYTES: Final = 1 * MIB
RECALL_RECORD_BYTES: Final = 2_048
COMPUTATION_RECORD_BYTES: Final = 256
RECALL_OUTPUT_BYTES: Final = RUN_BYTES - RECALL_RECORD_BYTES
COMPUTATION_OUTPUT_BYTES: Final = RUN_BYTES - COMPUTATION_RECORD_BYTES
ERROR_BYTES: Final = 1_024
ISSUES_TOLD: Final = 3

# Events (recall, The events)
EVENT_BYTES: Final = 240 * KIB
PUBLISHED_DATA_LEVELS: Final = 510
CUT_MARK: Final = "…"

# Histories: the kit's own bounds on what it reads, far above what a playbook holds
HISTORY_BYTES: Final = 4_096 * MIB
LINE_BYTES: Final = 64 * MIB
PROBLEM_ROWS: Final = 10_000
PATH_CHARACTERS: Final = 200

# Schemas on the host (the kit's own: no check may hang)
PATTERN_CHECKPOINTS: Final = 500
PATTERN_SECONDS: Final = 2.0
SCHEMA_STEPS: Final = 1_000_000
SCHEMA_SECONDS: Final = 10.0
SCHEMA_ISSUES: Final = 10_000

# What production takes of a schema (reference-facts, Documents and schemas)
PRODUCTION_SCHEMA_BYTES: Final = 65_536
PRODUCTION_SCHEMA_LEVELS: Final = 64
PRODUCTION_ENUM_VALUES: Final = 1_000

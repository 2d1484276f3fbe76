"""What a sandbox and its worker process say to each other.

Frames on the worker's stdin and stdout: 4 bytes of length, a JSON header, then the header's ``blobs``, one behind
the other. After a page the ledger comes as doubles, a row an event (page_fold.js).
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any, Final

# bytes of the view, steps, microseconds, outcome (0 not taken, 1 folded, 2 no readable time, 3 stalled), memory pages
LEDGER_COLUMNS: Final = 5


def read_frame(stream: IO[bytes]) -> tuple[dict[str, Any], list[bytes]] | None:
    """Return a frame's header and blobs, or None at the end of the stream."""
    size = stream.read(4)
    if len(size) < 4:
        return None
    header = json.loads(stream.read(struct.unpack("<I", size)[0]))
    return header, [stream.read(length) for length in header.pop("blobs", [])]


def write_frame(stream: IO[bytes], header: dict[str, Any], *blobs: bytes) -> None:
    """Write a frame and flush it."""
    text = json.dumps(header | {"blobs": [len(blob) for blob in blobs]}).encode()
    stream.write(struct.pack("<I", len(text)) + text + b"".join(blobs))
    stream.flush()

"""Receipts: what a recall was asked and gave, in digests, signed so that a change shows."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from typing import Any

from recallkit.errors import InvalidInput
from recallkit.events.records import json_bytes


class Signer:
    """Signs receipts with HMAC-SHA256."""

    def __init__(self, key: Any = None) -> None:
        if isinstance(key, str) or (key is not None and len(key) < 16):
            raise InvalidInput("receipt_key must be at least 16 bytes.", "/receipt_key")
        self._key = secrets.token_bytes(32) if key is None else key

    def _signature(self, receipt: Mapping[str, Any]) -> str:
        told = sorted((name, value) for name, value in receipt.items() if name != "signature")
        return hmac.new(self._key, json_bytes(told), hashlib.sha256).hexdigest()

    def sign(self, receipt: Mapping[str, Any]) -> dict[str, Any]:
        """Give a receipt with its signature."""
        return {**receipt, "signature": self._signature(receipt)}

    def verify(self, receipt: Mapping[str, Any]) -> bool:
        """Tell whether a receipt is signed with this key and unchanged."""
        try:
            return hmac.compare_digest(str(receipt["signature"]), self._signature(receipt))
        except (KeyError, TypeError, ValueError):
            return False

"""PyYAML's scanner taken from YAML 1.1 to YAML 1.2, and to what a front matter may hold.

PyYAML reads the grammar of YAML 1.1 and is lenient in places. The overrides here change that where the
two versions differ: tabs may separate tokens but never indent, ``{"a":1}`` and ``{x: :x}`` read as 1.2
says, a comment needs a blank before it, a flow collection and a quoted text stay inside their parent's
indentation. Anchors, aliases, tags and directives end the reading: a front matter has none of them.
"""

# mypy: disable-error-code="no-untyped-call"
# (PyYAML's stubs leave its scanner and parser untyped.)

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from yaml.composer import Composer
from yaml.error import MarkedYAMLError
from yaml.parser import Parser
from yaml.reader import Reader
from yaml.scanner import Scanner
from yaml.tokens import FlowMappingStartToken, ScalarToken

from recallkit.bounds import FRONT_MATTER_LEVELS

if TYPE_CHECKING:
    from yaml.error import Mark

_BLANK = "\0 \t\r\n"
_FLOW = ",[]{}"
_BREAK = "\r\n"
_HEX = "0123456789ABCDEFabcdef"


class YamlRefused(MarkedYAMLError):
    """Text that a front matter cannot be, at one place."""

    def __init__(self, words: str, mark: Any) -> None:
        super().__init__(problem=words, problem_mark=mark)
        self.words = words


class StrictScanner(Scanner):
    """The scanner of YAML 1.2, without anchors, aliases, tags and directives."""

    # PyYAML sets these on the instance; they are named here for the reader and the type checker.
    buffer: str
    pointer: int
    index: int
    line: int
    column: int
    indent: int
    flow_level: int
    tokens: list[Any]
    tokens_taken: int
    possible_simple_keys: dict[int, Any]
    allow_simple_key: bool

    if TYPE_CHECKING:
        # PyYAML's reader has these; the two come together in StrictParser.
        def peek(self, index: int = 0) -> str: ...
        def prefix(self, length: int = 1) -> str: ...
        def forward(self, length: int = 1) -> None: ...
        def get_mark(self) -> Mark: ...
        def scan_line_break(self) -> str: ...

    def __init__(self) -> None:
        # All of these before super(): it fetches the first token at once.
        self._tabbed = False
        self._tabbed_keys: dict[int, bool] = {}
        self._in_mapping: list[bool] = []
        self._after_json = -1
        super().__init__()

    def _refuse(self, words: str, mark: Mark | None = None) -> NoReturn:
        raise YamlRefused(words, mark or self.get_mark())

    # Blanks, tabs and comments

    def scan_to_next_token(self) -> None:
        """Skip blanks and comments, and know whether a tab stands before the next token."""
        self._tabbed = False
        fresh = self.column == 0
        while True:
            while self.peek() == " ":
                self.forward()
            spaces = self.column
            while self.peek() in " \t":
                self._tabbed = self._tabbed or self.peek() == "\t"
                self.forward()
            if self.peek() == "#":
                if self.index > 0 and self.buffer[self.pointer - 1] not in " \t\r\n":
                    self._refuse("A comment needs a blank before its #")
                while self.peek() not in "\0\r\n":
                    self.forward()
            if not self.scan_line_break():
                break
            fresh, self._tabbed = True, False
            if not self.flow_level:
                self.allow_simple_key = True
        if not fresh or self.peek() == "\0" or spaces > self.indent:
            return
        if self.flow_level and self.peek() not in "]}":
            self._refuse("A list or mapping in brackets stands further right than the key it belongs to")
        if self._tabbed and not self.flow_level:
            self._refuse("A tab cannot indent; indent with spaces")

    def _no_tab(self, tabbed: bool) -> None:
        if tabbed and not self.flow_level:
            self._refuse("A tab cannot indent; indent with spaces")

    # Keys, values and entries

    def save_possible_simple_key(self) -> None:
        if self.allow_simple_key:
            self._tabbed_keys[self.flow_level] = self._tabbed
        super().save_possible_simple_key()

    def stale_possible_simple_keys(self) -> None:
        """Let go of keys whose line has ended; a key of a flow mapping may take several lines."""
        for level in list(self.possible_simple_keys):
            if level and self._in_mapping[level - 1]:
                continue
            key = self.possible_simple_keys[level]
            if key.line != self.line or self.index - key.index > 1024:
                if key.required:
                    self._refuse("A key without its colon", key.mark)
                del self.possible_simple_keys[level]

    def fetch_block_entry(self) -> None:
        self._no_tab(self._tabbed)
        super().fetch_block_entry()

    def fetch_key(self) -> None:
        self._no_tab(self._tabbed)
        super().fetch_key()

    def fetch_value(self) -> None:
        if self.flow_level in self.possible_simple_keys:
            self._no_tab(self._tabbed_keys.get(self.flow_level, False))
        super().fetch_value()

    def check_key(self) -> bool:
        return self.peek(1) in _BLANK or (self.flow_level > 0 and self.peek(1) in _FLOW)

    def check_value(self) -> bool:
        following = self.peek(1)
        if following in _BLANK:
            return True
        # {"a":1}: after a quoted text or a bracket the colon needs no blank.
        return self.flow_level > 0 and (following in _FLOW or self._after_json == self.tokens_taken + len(self.tokens))

    def check_plain(self) -> bool:
        first, second = self.peek(), self.peek(1)
        if first in "-?:":
            return second not in _BLANK and not (self.flow_level and second in _FLOW)
        return first not in _BLANK + ",[]{}#&*!|>'\"%@`"

    def check_block_entry(self) -> bool:
        return self.peek(1) in _BLANK

    # Brackets

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:
        if self.flow_level >= FRONT_MATTER_LEVELS:
            self._refuse(f"The front matter nests deeper than {FRONT_MATTER_LEVELS} levels")
        super().fetch_flow_collection_start(TokenClass)
        self._in_mapping.append(TokenClass is FlowMappingStartToken)

    def fetch_flow_collection_end(self, TokenClass: Any) -> None:
        if not self.flow_level:
            self._refuse(f"A closing {self.peek()} without its opening bracket")
        super().fetch_flow_collection_end(TokenClass)
        self._in_mapping.pop()
        self._after_json = self.tokens_taken + len(self.tokens)

    # What a front matter has none of

    def fetch_anchor(self) -> NoReturn:
        self._refuse("An anchor (&) is not allowed; write the value out where it is needed")

    def fetch_alias(self) -> NoReturn:
        self._refuse("An alias (*) is not allowed; write the value out, or put a text that starts with * in quotes")

    def fetch_tag(self) -> NoReturn:
        self._refuse("A tag (!) is not allowed; write the value plainly, or put a text that starts with ! in quotes")

    def fetch_directive(self) -> NoReturn:
        self._refuse("A directive (%) is not allowed in the front matter")

    # Quoted texts

    def fetch_flow_scalar(self, style: str) -> None:
        super().fetch_flow_scalar(style)
        self._after_json = self.tokens_taken + len(self.tokens)

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Mark) -> list[str]:
        if double and self.peek() == "\\" and self.peek(1) == "U":
            digits = "".join(self.peek(2 + each) for each in range(8) if self._hex_up_to(2 + each))
            if len(digits) == 8 and int(digits, 16) > 0x10FFFF:
                self._refuse(f"\\U{digits} is no character")
        chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
        return chunks

    def _hex_up_to(self, index: int) -> bool:
        return all(self.peek(each) in _HEX for each in range(2, index + 1))

    def scan_flow_scalar_breaks(self, double: bool, start_mark: Mark) -> list[str]:
        """Skip empty lines inside quotes; the next line is indented further than the parent."""
        chunks = []
        while True:
            self._no_marker()
            while self.peek() == " ":
                self.forward()
            spaces = self.column
            while self.peek() in " \t":
                self.forward()
            if self.peek() in _BREAK:
                chunks.append(self.scan_line_break())
                continue
            if spaces <= self.indent and self.peek() != "\0":
                self._refuse("A quoted text goes on further right than the key it belongs to")
            return chunks

    def _at_marker(self) -> bool:
        return self.column == 0 and self.prefix(3) in ("---", "...") and self.peek(3) in _BLANK

    def _no_marker(self) -> None:
        if self._at_marker():
            self._refuse("A quoted text is not closed before the document ends")

    # Plain texts

    def scan_plain(self) -> ScalarToken:
        chunks: list[str] = []
        gap = ""
        start = end = self.get_mark()
        place = (self.pointer, self.index, self.line, self.column)
        stops = _BLANK + _FLOW if self.flow_level else _BLANK
        while True:
            length = 0
            while self.peek(length) not in stops and not (self.peek(length) == ":" and self.peek(length + 1) in stops):
                length += 1
            if not length:
                self.pointer, self.index, self.line, self.column = place
                break
            self.allow_simple_key = False
            chunks += [gap, self.prefix(length)]
            self.forward(length)
            end = self.get_mark()
            place = (self.pointer, self.index, self.line, self.column)
            found = self._plain_gap()
            if found is None:
                self.pointer, self.index, self.line, self.column = place
                break
            gap = found
        return ScalarToken("".join(chunks), True, start, end)

    def _plain_gap(self) -> str | None:
        """The blanks between two words of a plain text as they read; None where the text ends."""
        length = 0
        while self.peek(length) in " \t":
            length += 1
        blanks = self.prefix(length)
        self.forward(length)
        if self.peek() not in _BREAK:
            return blanks if blanks and self.peek() not in "\0#" else None
        empty = -1
        while True:
            self.scan_line_break()
            empty += 1
            if self._at_marker():
                return None
            while self.peek() == " ":
                self.forward()
            spaces = self.column
            while self.peek() in " \t":
                self.forward()
            if self.peek() not in _BREAK:
                break
        if self.peek() in "\0#" or spaces <= self.indent:
            return None
        return "\n" * empty or " "

    # Block texts

    def scan_block_scalar_indicators(self, start_mark: Mark) -> tuple[bool | None, int | None]:
        chomping: bool | None = None
        increment: int | None = None
        for _ in range(2):
            sign = self.peek()
            if sign in "+-" and chomping is None:
                chomping = sign == "+"
            elif sign in "123456789" and increment is None:
                increment = int(sign)
            else:
                break
            self.forward()
        if self.peek() not in _BLANK:
            self._refuse("After | or > stand only +, - and a digit from 1 to 9")
        return chomping, increment

    def scan_block_scalar_ignored_line(self, start_mark: Mark) -> None:
        while self.peek() in " \t":
            self.forward()
        if self.peek() == "#":
            while self.peek() not in "\0\r\n":
                self.forward()
        if self.peek() not in "\0\r\n":
            self._refuse("A block text starts on the line after | or >")
        self.scan_line_break()

    def scan_block_scalar_indentation(self) -> tuple[list[str], int, Mark]:
        chunks, longest, end = [], 0, self.get_mark()
        while True:
            while self.peek() == " ":
                self.forward()
            if self.peek() not in _BREAK:
                break
            longest = max(longest, self.column)
            chunks.append(self.scan_line_break())
            end = self.get_mark()
        if self.peek() == "\t" and self.column <= max(self.indent, 0):
            self._refuse("A tab cannot indent; indent with spaces")
        if self.peek() != "\0" and self.column > max(self.indent, 0) and longest > self.column:
            self._refuse("An empty line at the top of a block text is indented further than its first line")
        return chunks, max(longest, self.column), end


class StrictParser(Reader, StrictScanner, Parser, Composer):
    """The event stream of one text, as YAML 1.2 reads it."""

    def __init__(self, text: str) -> None:
        Reader.__init__(self, text)
        StrictScanner.__init__(self)
        Parser.__init__(self)

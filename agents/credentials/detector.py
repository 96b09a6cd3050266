"""Compiles regular expressions for the detectors and limits how many candidates they look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Final, cast

import re2

from agents.credentials.spans import MAX_VALUES, Span

MAX_CANDIDATES: Final = 100_000
"""Places in one text that are checked in detail. A check takes some microseconds."""
# Below this, RE2 discards its automaton and builds it again: 8 MB made hostile digits ten times slower.
_MEMORY_BYTES: Final = 64 << 20
_LOOKALIKES: Final = dict.fromkeys((*range(0x2010, 0x2016), 0x2212), "-") | dict.fromkeys(
    (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "
)
"""Dashes and spaces as ASCII."""
_FOREIGN_LOGINS: Final = (
    *("пароль", "паролем", "пароля", "парола", "лозинка", "гасло", "密码", "密碼", "口令", "暗証番号"),
    *("パスワード", "パスフレーズ", "비밀번호", "암호", "كلمة المرور", "كلمة السر", "סיסמה", "סיסמא"),
    *("पासवर्ड", "รหัสผ่าน", "κωδικός"),
)
_FOREIGN_KEYS: Final = (
    *("токен", "секрет", "ключ api", "api-ключ", "ключ доступа", "密钥", "密鑰", "秘钥", "令牌"),
    *("シークレット", "トークン", "apiキー", "토큰", "비밀키"),
)
_FOREIGN_NAMES: Final = re.compile(
    "|".join(
        f"({'|'.join((*names, *map(str.capitalize, names)))})" for names in (_FOREIGN_LOGINS, _FOREIGN_KEYS)
    )
)
_OTHER_SCRIPT: Final = re.compile("[\u0370-\u1fff\u3040-\ud7af]")


class Pattern:
    """A regular expression in RE2's syntax over one-byte characters, compiled at its first use."""

    def __init__(self, source: str) -> None:
        self._source = source

    @cached_property
    def _program(self) -> re.Pattern[bytes]:
        options = re2.Options()
        # One byte per character keeps positions in the text and in the data the same.
        options.encoding = re2.Options.Encoding.LATIN1
        options.max_mem = _MEMORY_BYTES
        # RE2's module has no types; its patterns have the methods of the standard library's.
        return cast("re.Pattern[bytes]", re2.compile(self._source.encode("latin-1"), options))

    def occurs_in(self, data: bytes) -> bool:
        """Return whether the pattern matches anywhere."""
        return self._program.search(data) is not None

    def match_end(self, data: bytes, start: int) -> int:
        """Return the end of a match that begins exactly at ``start``, or -1."""
        match = self._program.match(data, start)
        return -1 if match is None else match.span()[1]

    def find_spans(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end of each match: of the group that took part, or of the full match."""
        groups = range(1, self._program.groups + 1)
        for match in self._program.finditer(data):
            bounds = (match.span(group) for group in groups)
            yield next((pair for pair in bounds if pair[0] >= 0), match.span())


class TooManyCandidatesError(Exception):
    """A limit is reached, and the rest of the value has not been searched."""


class Quota:
    """Counts down how many items may still be examined."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def use(self, count: int = 1) -> None:
        """Count items.

        Raises:
            TooManyCandidatesError: The limit is exceeded.
        """
        self._left -= count
        if self._left < 0:
            raise TooManyCandidatesError


class EncodedText:
    r"""The bytes of a text, exactly one per character, with look-alikes as ASCII characters.

    Names of credentials in other scripts become marks: ``\x02`` for a login, ``\x03`` for a key. All
    patterns share ``MAX_CANDIDATES`` matches. A slow check of a match counts as several of them.
    """

    def __init__(self, text: str) -> None:
        if not text.isascii() and _OTHER_SCRIPT.search(text):
            text = _FOREIGN_NAMES.sub(lambda match: ("\x02" if match[1] else "\x03") * len(match[0]), text)
        # A character that is not in Latin-1 becomes "?".
        self.data = (text if text.isascii() else text.translate(_LOOKALIKES)).encode("latin-1", "replace")
        self.quota = Quota(MAX_CANDIDATES)

    def find_spans(self, pattern: Pattern) -> Iterator[tuple[int, int]]:
        """Yield the spans of ``pattern``, and count each as a candidate.

        Raises:
            TooManyCandidatesError: All patterns together match in too many places.
        """
        for bounds in pattern.find_spans(self.data):
            self.quota.use()
            yield bounds

    def decode(self, start: int, end: int) -> str:
        """Return a part of the text in ASCII and Latin-1 characters."""
        return self.data[start:end].decode("latin-1")


@dataclass(frozen=True, slots=True)
class Detector:
    """A search for one family of sensitive data, and a quick test that says whether to run it.

    ``trigger`` is a regular expression (RE2, one-byte characters, no groups) that matches in every text in
    which ``find`` finds a value, and in that text written as JSON. Word boundaries at its start are adapted
    for JSON, because there a line break before a word ends in a letter.
    """

    trigger: str
    find: Callable[[EncodedText], Iterator[Span]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of a credential: its kind, its pattern, and whether a match is one."""

    kind: str
    pattern: Pattern
    accepts: Callable[[EncodedText, int, int], bool]


def detect(trigger: str, rules: Sequence[Rule]) -> Detector:
    """Build a detector of credentials from rules."""

    def find(subject: EncodedText) -> Iterator[Span]:
        for rule in rules:
            for start, end in subject.find_spans(rule.pattern):
                if rule.accepts(subject, start, end):
                    yield Span(start, end, rule.kind, "credential")

    return Detector(trigger, find)


class Family:
    """Detectors whose triggers are tested in one pass, over a text or over its JSON."""

    def __init__(self, *detectors: Detector) -> None:
        triggers = "|".join(f"(?:{detector.trigger})" for detector in detectors)
        # JSON writes a line break as "\n": the letter in it would hide the start of the next word.
        self.source = triggers.replace(r"\b", r"(?:\b|\\[bfnrt])")
        self.any = Pattern(self.source)
        self._detectors = tuple((Pattern(detector.trigger), detector.find) for detector in detectors)

    def find_spans(self, subject: EncodedText) -> Iterator[Span]:
        """Yield the values that the detectors find whose triggers match."""
        if self.any.occurs_in(subject.data):
            for trigger, find in self._detectors:
                if trigger.occurs_in(subject.data):
                    yield from find(subject)


def search_text(text: str, families: Sequence[Family]) -> list[Span]:
    """Return the values that the detectors find; the whole text, as ``unsearched``, if there are too many."""
    subject = EncodedText(text)
    found = (span for family in families for span in family.find_spans(subject))
    with suppress(TooManyCandidatesError):
        spans = [*islice(found, MAX_VALUES + 1)]
        if len(spans) <= MAX_VALUES:
            return spans
    return [Span(0, len(text), "unsearched", "unsearched")]

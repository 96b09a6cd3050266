"""Formats as data: where a file has its records, and which messages the records of each kind are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Final

from agents.parsing.loose_json import iter_objects
from evaluation.errors import ContractError
from evaluation.importers.imported_message import UnknownFormatError, as_parts, read_run_error
from evaluation.recordings.record_steps import STEPS
from evaluation.recordings.record_template import Template, When, fill, find, find_list, fulfils
from evaluation.recordings.recorded_run import RecordedRun, RunFormat, read_message_run, read_tokens
from evaluation.sensitive.scanner import shorten
from evaluation.values import JsonObject, as_list, as_object, is_deep


@dataclass(frozen=True, slots=True)
class Kind:
    """Records of one kind.

    Attributes:
        when: The condition that such a record fulfils.
        messages: The message of a record, or a list of several; none if it is no part of the conversation.
        fields: Fields of the run that the last such record has; an error counts unless a message follows.
        aside: Says in a warning what such records are, if they are not read; empty for no warning.
    """

    when: When
    messages: Template = ()
    fields: Mapping[str, Template] = field(default_factory=dict)
    aside: str = ""


@dataclass(frozen=True, slots=True)
class RecordFormat:
    """A format whose file lists records; each is described by a file in ``formats``.

    Attributes:
        name: As of ``RunFormat``.
        source: Where the format is described.
        kinds: The first kind whose condition a record fulfils reads it.
        sign: One of the first records of a value in this format fulfils this condition.
        runs: The path of the list of runs; empty if the value is one run.
        records: The path of the list of records in a run that is no list itself.
        fields: The fields of the run, and ``case_id``; those of a list are in one of the first records.
        version: A path, and a pattern of the versions that are read.
        end: A path, and a pattern of the reasons of an orderly end; any other reason is an error of the run.
        agent: The path of the name of a nested agent, whose records are a run of their own.
        reply: The path of the id of a reply whose parts are in several records.
        prepare: The name of a step that makes records which the kinds read.
        keeps_calls: Whether a recorder of the format keeps each call, so that a run without one made none.
        nested: The path of the list of values whose runs are those of nested agents.
        repeats: Fields of a record that are left out, because its other fields say the same in another form.
        session: The path of the id of the session that a record belongs to. A record of another session that
            follows from none, by the path ``follows``, begins another run if that session has an ``answer``.
        times: The path of the time of a record, if the time of a run is that between the first and the last.
    """

    name: str
    source: str
    kinds: tuple[Kind, ...]
    sign: When = field(default_factory=dict)
    runs: str = ""
    records: str = ""
    fields: Mapping[str, Template] = field(default_factory=dict)
    version: tuple[str, str] = ("", "")
    end: tuple[str, str] = ("", "")
    agent: str = ""
    reply: str = ""
    prepare: str = ""
    nested: str = ""
    repeats: Sequence[str] = ()
    session: str = ""
    follows: str = ""
    answer: When = field(default_factory=dict)
    times: str = ""
    keeps_calls: bool = True

    @classmethod
    def load(cls, name: str) -> RunFormat:
        """Returns the format that a file in ``formats`` describes, for the reader of files."""
        stated = json.loads(Path(__file__).with_name("formats").joinpath(f"{name}.json").read_bytes())
        marks = tuple(map(frozenset[str], stated.pop("marks", ())))
        found = cls(**{**stated, "kinds": tuple(Kind(**each) for each in stated["kinds"])})
        return RunFormat(found.name, found.read, marks, found.recognises)

    def recognises(self, value: object) -> bool:
        """Returns whether one of the first records of a value has the sign of this format."""
        first = find(value, f"{self.runs}.0") if self.runs else value
        records = first if isinstance(first, list) else find(first, self.records) if self.records else None
        if not self.sign:
            return isinstance(value, dict)
        return any(
            isinstance(each, dict) and fulfils(each, self.sign) for each in islice(as_list(records), HEAD)
        )

    def read(self, value: object) -> Iterator[RecordedRun]:
        """Yields the runs of a value.

        Raises:
            ContractError: The version is unknown, or a part of the value is in no known form.
        """
        path, known = self.version
        version = find(value, path) if path else None
        if version is not None and not re.fullmatch(known, str(version)):
            words = known.replace("|", " or ")
            raise ContractError(f"the version {shorten(str(version))} is not known; give {words}")
        if is_deep(value, _LEVELS):
            raise UnknownFormatError(f"it is nested in more than {_LEVELS} levels; flatten it")
        for run in find_list(value, self.runs) if self.runs else self._split_sessions(value):
            yield from self._read_agents(run)
        for child in find_list(value, self.nested) if self.nested else ():
            yield from self.read(child)

    def _split_sessions(self, value: object) -> Sequence[object]:
        if not (self.session and isinstance(value, list)):
            return [value]
        sessions: list[list[object]] = [[]]
        answered = {str(find(each, self.session)) for each in value if fulfils(each, self.answer)}
        seen = set[str]()
        for record in value:
            own = str(find(record, self.session) or "")
            if seen and own in answered - seen and not find(record, self.follows):
                sessions.append([])
            seen |= {own} - {""}
            sessions[-1].append(record)
        return sessions

    def _read_agents(self, run: object) -> Iterator[RecordedRun]:
        if not isinstance(run, dict | list):
            raise UnknownFormatError(f"{self.runs} has an element that is no object")
        listed = run if isinstance(run, list) else find_list(run, self.records)
        first = {name: value for each in reversed(listed[:HEAD]) for name, value in as_object(each).items()}
        whole = as_object(run) or first
        read = [*map(self._read_record, STEPS[self.prepare](whole, listed) if self.prepare else listed)]
        # Records that are no messages are told with the first agent, whoever is named in them.
        first_agent = next((self._name_agent(each) for each in read if each.messages), "")
        agents: dict[str, list[_Read]] = {} if read else {"": []}
        for each in read:
            agent = self._name_agent(each) if each.messages else first_agent
            agents.setdefault(agent, []).append(each)
        for agent, own in agents.items():
            yield self._read_run(whole, own, agent)

    def _name_agent(self, read: _Read) -> str:
        name = find(read.record, self.agent) if self.agent else None
        return str(name) if name else ""

    def _read_run(self, whole: JsonObject, read: Sequence[_Read], agent: str) -> RecordedRun:
        fields = {**as_object(fill(self.fields, whole))}
        name = "/".join(filter(None, (str(fields.pop("case_id", "")), agent)))
        # What is measured for the whole run is not that of an agent that another one called.
        measured = {"model": fields.get("model")} if agent else {**fields, **read_tokens(fields)}
        if read and not any(each.messages or each.kind.fields for each in read):
            raise UnknownFormatError(f"none of its {len(read)} records is a message in a known form")
        told = {**measured, **self._read_events(read), **self._read_end(whole, measured, read)}
        skipped = Counter(each.kind.aside for each in read if each.kind.aside)
        warnings = [*(f"{text} ({count})" for text, count in skipped.items()), *_count_losses(read)]
        messages = self._join(read)
        is_known = self.keeps_calls and not any(each.get("role") == "tool" for each in messages)
        calls: JsonObject = {"earlier_calls": []} if is_known else {}
        return read_message_run(messages, name, {**calls, **told, **self._read_latency(read)}, warnings)

    def _read_events(self, read: Iterable[_Read]) -> JsonObject:
        """Returns the fields of the run that its records tell."""
        told: dict[str, object] = {"error": None}
        for each in read:
            # An error from which the agent went on did not end the run.
            told |= {"error": None} if each.messages else {}
            told |= as_object(fill(each.kind.fields, each.record))
            if "error" in each.kind.fields and not told["error"]:
                told |= {"error": "no reason is recorded"}
        return told

    def _read_record(self, record: object) -> _Read:
        fields = {name: value for name, value in as_object(record).items() if name not in self.repeats}
        kind = next((each for each in self.kinds if fields and fulfils(fields, each.when)), None)
        if kind is None:
            return _Read(fields, Kind({}, aside=f"{_describe(record)} are not read"))
        return _Read(fields, kind, [*map(as_object, as_parts(fill(kind.messages, fields)))])

    def _read_end(self, whole: JsonObject, fields: JsonObject, read: Sequence[_Read]) -> JsonObject:
        """Returns the error of the run, if one is told or it has no orderly end."""
        path, orderly = self.end
        reason = find(whole, path) if path else None
        if reason and not re.fullmatch(orderly, str(reason), re.IGNORECASE):
            return {"error": f"{path} is {shorten(str(reason))}"}
        return read_run_error(fields) if read else {"error": f"{self.records} has no records"}

    def _read_latency(self, read: Sequence[_Read]) -> JsonObject:
        found = (find(each.record, self.times) for each in read if self.times)
        times = [time for time in found if time is not None]
        if len(times) < 2:  # noqa: PLR2004 - a time lies between two
            return {}
        try:
            first, last = (
                datetime.fromisoformat(str(each)).astimezone(UTC) for each in (times[0], times[-1])
            )
        except ValueError:
            raise UnknownFormatError(f"it has a {self.times} that is no ISO 8601 date") from None
        return {"latency_ms": 1000 * max(0.0, (last - first).total_seconds())}

    def _join(self, read: Iterable[_Read]) -> list[JsonObject]:
        """Returns all messages; the parts of one reply are one message in the place of the first."""
        joined: dict[object, JsonObject] = {}
        parts = ((each.record, message) for each in read for message in each.messages)
        for record, message in parts:
            is_reply = self.reply and message.get("role") == "assistant"
            reply = find(record, self.reply) if is_reply else None
            key = reply if isinstance(reply, str) else len(joined)
            joined[key] = _merge(joined[key], message) if key in joined else message
        return [*joined.values()]


_LEVELS: Final = 100
"""Most levels of nesting; the evaluation accepts no more of them."""
HEAD: Final = 64
"""Records at the beginning of a list that are looked at to find its format."""


@dataclass(frozen=True, slots=True)
class _Read:
    record: JsonObject
    kind: Kind
    messages: Sequence[JsonObject] = ()


def _merge(reply: JsonObject, more: JsonObject) -> JsonObject:
    names = ("content", "tool_calls")
    parts = {name: [*as_parts(reply.get(name)), *as_parts(more.get(name))] for name in names}
    return {**reply, **more, **parts}


def _describe(record: object) -> str:
    if not isinstance(record, dict):
        return "entries that are no objects"
    kind = find(record, "type|kind|role")
    return f"entries of the type {shorten(str(kind))} in this form" if kind else "entries without a type"


def _count_losses(read: Sequence[_Read]) -> Iterator[str]:
    """Yields both numbers for each kind of fact that the records have more of than the messages."""
    held, found = Counter[str](), Counter[str]()
    kept = {fact for each in read for fact in _list_facts(each.messages)}
    texts = "\n".join(text for _, text in kept)
    for each in read:
        is_failed = _ERROR in _list_facts(each.messages)
        for name, fact in {*_list_facts(each.record)} if each.messages else ():
            is_kept = is_failed if (name, fact) == _ERROR else (name, fact) in kept or fact in texts
            held[name] += 1
            found[name] += is_kept
    lost = held - found
    yield from (f"{name}: {held[name]} in the file, {found[name]} read" for name in lost)


_ERROR: Final = ("results with an error", "")
_TEXTS: Final = (
    "content", "text", "thought", "thinking", "output", "result", "refusal", "query", "reference",
)  # fmt: skip
_FACTS: Final = {
    **dict.fromkeys(("toolcallid", "tooluseid", "callid"), "ids of calls"),
    **dict.fromkeys(_TEXTS, "texts"),
}
"""The kind of fact by the name of a field, without underscores and in lower case."""


def _list_facts(value: object) -> Iterator[tuple[str, str]]:
    """Yields the texts and the ids of calls anywhere in a value, and a mark of an error."""
    for fields in iter_objects(value):
        yield from _read_facts(fields)


def _read_facts(fields: JsonObject) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        kind = _FACTS.get(name.replace("_", "").lower())
        texts = (text for text in as_parts(value) if isinstance(text, str) and text.strip())
        yield from ((kind, text) for text in texts if kind)
    calls = as_list(fields.get("tool_calls") or fields.get("toolCalls"))
    yield from (("ids of calls", str(id_)) for each in calls if (id_ := as_object(each).get("id")))
    if fields.get("status") == "error" or any(map(fields.get, ("is_error", "isError", "error"))):
        yield _ERROR

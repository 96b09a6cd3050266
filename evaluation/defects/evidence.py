"""The evidence of a run: its calls with their outcomes, and each turn with the calls before it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, cast, get_args

from agents.parsing.outcomes import read_outcome, states_error
from agents.parsing.tool_names import ToolKind, guess_kind, split_name
from evaluation.defects.claims import list_families, read_pattern, read_words
from evaluation.importers.conversation import Conversation, read_conversation
from evaluation.sensitive.scanner import quote_text, shorten
from evaluation.texts.json_texts import parse_json
from evaluation.texts.normal import read_source, read_visible

Level = Literal["defect", "suspicion", "note"]
Moment = tuple[float, float]
"""How many calls were made before, and the position of a message between them."""
_LONGEST: Final = 160
_LONGEST_ANSWER: Final = 100


@dataclass(frozen=True, slots=True)
class DefectFinding:
    """A contradiction between the words of a run and its calls.

    Attributes:
        rule: The name of the rule.
        level: Its consequence; ``docs/reference/defects.md`` has the counts that it rests on.
        said: The sentence of the assistant, or the task.
        seen: The evidence against it, as a main clause.
        message: The number of the message that says it; None if the run has no messages.
        call: The number of the call that is the evidence; None if there is none.
    """

    rule: str
    level: Level
    said: str
    seen: str
    message: int | None = None
    call: int | None = None
    by: Literal["answer", "task", "result"] = "answer"
    """Where ``said`` stands."""

    @property
    def reason(self) -> str:
        """Both sides in one sentence."""
        return f"The {self.by} says {quote_text(self.said, _LONGEST)}; {self.seen}"


_SQL: Final = read_pattern("sql")
Program = Literal["tests", "linter", "build"]
PROGRAM_KINDS: Final = {kind: read_pattern(kind) for kind in get_args(Program)}
_EXITS: Final = ("exit_code", "exitcode", "returncode", "exit_status")
_write_json: Final = json.JSONEncoder(ensure_ascii=False, default=str).encode
_DEPTH: Final = 6

CallState = Literal["acted", "refused", "unknown", "read", "missed"]
"""``read``: a call that only reads answered; ``missed``: it failed."""


@dataclass(frozen=True, eq=False)
class Call:
    """One call of a tool; ``place`` is its position among all calls, from 0."""

    place: int
    name: str
    args: Mapping[str, object]
    result: object
    state: CallState
    is_open: bool = False
    """Whether it runs a program or hands over a task, and its arguments do not tell that it only reads."""
    is_vague: bool = False
    """Whether its name tells neither that it acts nor that it reads."""
    was_stopped: bool = False
    """Whether a person or a rule kept it from running, which is no failure of the tool."""

    @property
    def after(self) -> Moment:
        """The moment after it, from which on its answer is known."""
        return self.place + 1, -1

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return tuple(split_name(self.name))

    @cached_property
    def command(self) -> str:
        """The command that it runs; empty if it is no program."""
        return _read_command(self.name, self.args)

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of the verbs and nouns in its name, and in the command that it runs."""
        command = (self.command or _read_sql(self.args)).lower()
        named = list_families((*self.words, *re.findall("[a-z]+", command)))
        # The verb of a tool that is named after a thing is an argument: ``lock`` with ``action``, "open".
        given = (*self.args, *(leaf for leaf in self.args.values() if isinstance(leaf, str)))
        has_thing = self.is_vague and not self.is_open
        return named or list_families(tuple(map(str.lower, given)) if has_thing else ())

    @cached_property
    def args_text(self) -> str:
        """Its arguments as JSON."""
        return _write_json(self.args)

    @cached_property
    def answer(self) -> str:
        """Its answer as a text."""
        if self.result is None:
            return ""
        return read_source(self.result if isinstance(self.result, str) else _write_json(self.result))

    @cached_property
    def text(self) -> str:
        """Its arguments and its answer."""
        return f"{self.args_text} {self.answer}"

    @cached_property
    def value(self) -> object:
        """Its answer as a JSON value; None for prose."""
        values = parse_json(self.result) if isinstance(self.result, str) else [self.result]
        return values[0] if values else None

    @cached_property
    def stated(self) -> str:
        """Its answer without the fields that have no value: an empty list of sent invites says nothing."""
        if not isinstance(self.value, Mapping | list):
            return self.value if isinstance(self.value, str) else self.answer
        return " ".join(f"{name} {leaf}" for name, leaf in self.answered if leaf)

    @cached_property
    def leaves(self) -> Sequence[tuple[str, object]]:
        """The plain values of its arguments, each with the name of its field."""
        return [(path[-1] if path else "", leaf) for path, leaf in list_paths(self.args)]

    @cached_property
    def paths(self) -> Sequence[tuple[tuple[str, ...], object]]:
        """The plain values of its answer, each with the names of the fields that lead to it."""
        return [*list_paths(self.value)]

    @cached_property
    def answered(self) -> Sequence[tuple[str, object]]:
        """The plain values of its answer, each with the name of its field."""
        return [(path[-1] if path else "", leaf) for path, leaf in self.paths]

    @property
    def quoted(self) -> str:
        """Its answer as a finding quotes it."""
        return quote_text(self.answer, _LONGEST_ANSWER) if self.answer else "without a text"

    @property
    def acts(self) -> bool:
        """Whether it may have changed something."""
        return self.state in {"acted", "unknown"}

    @cached_property
    def programs(self) -> frozenset[Program]:
        """The kinds of programs that it runs, by its name or its command."""
        text = " ".join([*self.words, self.args_text if self.is_program else ""])
        return frozenset(kind for kind, pattern in PROGRAM_KINDS.items() if pattern.search(text))

    @property
    def exits(self) -> list[object]:
        """The exit codes that its answer has."""
        return [leaf for name, leaf in self.answered if name in _EXITS]

    @property
    def is_program(self) -> bool:
        """Whether its answer tells how a program ended."""
        return bool(self.command or self.exits)

    @cached_property
    def has_failed(self) -> bool:
        """Whether a program ended with an error, or tests failed."""
        is_error = any(code not in {0, "0", None} for code in self.exits)
        # The first test is far cheaper than the search.
        may_fail = names_any(self.answer, ("fail", "err", "exit"))
        return is_error or (may_fail and read_pattern("failed").search(self.answer) is not None)


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of the user or the assistant; ``known`` counts the calls before it."""

    text: str
    known: int
    place: int
    raw: str
    """The text with thoughts, marks and hidden elements, which ``text`` lacks."""

    @property
    def moment(self) -> Moment:
        """When it was said."""
        return self.known, self.place


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The requests, calls, answers and words of a run."""

    asked: Sequence[Turn]
    """The turns of the user."""
    said: Sequence[Turn]
    """The turns of the assistant of which a reader sees something."""
    answer: Turn
    """The turn that is the answer of the run, also if a reader sees nothing of it."""
    calls: Sequence[Call]
    given: Sequence[str] = ()
    """Further texts that were given to the agent, such as the system prompt or documents."""
    has_calls: bool = True
    """Whether the record tells which calls were made; an empty list of calls does."""
    begins_late: bool = False
    """Whether the record begins with a summary of what was before."""

    def asked_before(self, turn: Turn) -> str:
        """Return all texts of the user before a turn."""
        return "\n".join(each.text for each in self.asked if each.place < turn.place)


def build_call(place: int, recorded: Mapping[str, object], acting: Collection[object] = ()) -> Call:
    """Build a call of its recorded fields.

    Args:
        place: Its position among all calls.
        recorded: ``name``, ``args``, ``result``, ``error`` and perhaps ``outcome`` and ``args_text``.
        acting: The names of the tools that are stated to act.
    """
    name, result, error = str(recorded["name"]), recorded.get("result"), recorded.get("error")
    result = error if result is None and isinstance(error, str) else result
    args = recorded.get("args") or recorded.get("args_text")
    plain = args if isinstance(args, Mapping) else {"text": args} if args else {}
    kind = "acting" if name in acting else guess_kind(name)
    kind = _read_kind(name, plain) if kind == "open" else kind
    outcome = recorded.get("outcome")
    if outcome or kind == "acting":
        known = cast("CallState | None", _SAME_AS.get(str(outcome), outcome))
        state = known or read_outcome(name, result, is_error=bool(error))
        was_stopped = outcome == "denied" or bool(recorded.get("not_run"))
        return Call(place, shorten(name, _LONGEST), plain, result, state, was_stopped=was_stopped)
    words = split_name(name)
    is_vague = kind == "open" and read_words("harmless").isdisjoint(words)
    is_open = is_vague and not read_words("programs").isdisjoint((*words, *plain))
    state = "missed" if error or states_error(result) else "read"
    return Call(place, shorten(name, _LONGEST), plain, result, state, is_open, is_vague=is_vague)


_SAME_AS: Final = {"stated": "acted", "reused": "acted", "denied": "refused"}


def build_evidence(
    run: Mapping[str, Any],
    actions: Sequence[Mapping[str, object]],
    output: str,
    acting_tools: Collection[str] = (),
    conversation: Conversation | None = None,
) -> Evidence:
    """Build the evidence of a run.

    Args:
        run: The fields of an ``agent_run``, with its messages as they were read.
        actions: Its calls, with parsed arguments, results and errors.
        output: Its answer.
        acting_tools: The tools that act by the contract's word, besides those by the word of the run.
        conversation: Its messages. Default: the messages of ``run``.
    """
    acting = {*run.get("acting_tools", ()), *acting_tools}
    own = [each for each in actions if each["kind"] == "tool"]
    made = [*run.get("earlier_calls", ()), *own]
    calls = [build_call(place, each, acting) for place, each in enumerate(made)]
    conversation = conversation or read_conversation(run.get("messages", ()))
    system = (each.text for each in conversation.messages if each.role == "system")
    given = [*run.get("sources", ()), *system]
    # A list of messages without calls may come from a recorder that keeps none.
    states_none = any(each.plain.get("tool_calls") == [] for each in conversation.messages)
    is_stated = "earlier_calls" in run or ("tool_calls" in run and not conversation.messages)
    has_calls = bool(calls) or is_stated or states_none
    asked, said = _read_turns(conversation, calls, len(calls) - len(own))
    if not (asked or said):
        task = str(run.get("input") or "")
        return build_evidence_of_answer(task, output, calls, given, has_calls=has_calls)
    # An output that is no message is one more turn.
    if output.strip() and not any(turn.raw.strip() == output.strip() for turn in said):
        place = max(turn.place for turn in (*asked, *said)) + 1
        said = [*said, Turn(read_visible(output), len(calls), place, output)]
    shown = [turn for turn in said if turn.text]
    begins_late = any("stands_for_earlier" in each.plain for each in conversation.messages)
    answer = said[-1] if said else Turn("", len(calls), 0, "")
    return Evidence(asked, shown, answer, calls, given, has_calls, begins_late)


def build_evidence_of_answer(
    task: str, output: str, calls: Sequence[Call], given: Sequence[str] = (), *, has_calls: bool = True
) -> Evidence:
    """Build the evidence of a task and its answer, before which all calls were made."""
    answer = Turn(read_visible(output), len(calls), 1, output)
    asked = Turn(read_visible(task), 0, 0, task)
    return Evidence([asked], [answer] if answer.text else [], answer, calls, given, has_calls)


def _read_turns(
    conversation: Conversation, calls: Sequence[Call], earlier: int
) -> tuple[list[Turn], list[Turn]]:
    """Return the turns of the user, and the turns of the assistant."""
    places = sorted(each.message for each in conversation.calls)
    if len(places) != len(calls) - earlier:
        # The messages do not tell when the calls were made: each turn may know all of them.
        places = [0] * (len(calls) - earlier)
    turns: dict[str, list[Turn]] = {"user": [], "assistant": []}
    for at, message in enumerate(conversation.messages):
        if message.role in turns and (raw := message.text).strip():
            # The calls of a message follow its text, and belong to it.
            known = earlier + bisect_left(places, at + (message.role == "assistant"))
            turns[message.role].append(Turn(read_visible(raw), known, at, raw))
    return turns["user"], turns["assistant"]


def _read_command(name: str, args: Mapping[str, object]) -> str:
    """Return the command that a call runs; a tool may be the program, as ``git`` with ``args``."""
    given = args.get("args") or args.get("argv")
    words = [given] if isinstance(given, str) else given if isinstance(given, list) else []
    command = next((str(args[key]) for key in ("command", "cmd", "script") if args.get(key)), "")
    return command or (" ".join(map(str, (name, *words))) if words else "")


def _read_sql(args: Mapping[str, object]) -> str:
    return next((leaf for leaf in args.values() if isinstance(leaf, str) and _SQL.match(leaf)), "")


def _read_kind(name: str, args: Mapping[str, object]) -> ToolKind:
    """Read from the arguments of a program whether it acts, if the name of its tool does not tell."""
    command, sql, method = (
        _read_command(name, args),
        _SQL.match(_read_sql(args)),
        str(args.get("method")).lower(),
    )
    if read_pattern("reading_command").match(command) or method == "get" or (sql and sql["reads"]):
        return "reading"
    acts = sql or method in {"post", "put", "patch", "delete"} or read_pattern("plain_command").match(command)
    return "acting" if acts else "open"


def list_paths(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the plain values of a JSON value, each with the names of the fields that lead to it."""
    waiting = [(path, value)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, list):
            waiting += [(path, inner) for inner in reversed(value)]
        elif not isinstance(value, dict) or len(path) >= _DEPTH:
            yield path, value
        else:
            waiting += [((*path, str(key)), inner) for key, inner in [*value.items()][::-1]]


def names_value(text: str, value: object) -> bool:
    """Return whether a text has a value as words of its own."""
    # Most texts do not have it, and a pattern that is used once is slow.
    is_near = str(value).lower() in text.lower()
    return is_near and bool(re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text, re.IGNORECASE))


def names_any(text: str, words: Collection[str]) -> bool:
    """Return whether a text has one of several words in lower case, perhaps within a longer one."""
    return any(map(text.lower().__contains__, words))

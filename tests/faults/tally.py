"""What a fault did to runs: counted against a run that was not disturbed."""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from langgraph.checkpoint.memory import InMemorySaver

from orchestrator.persistence import open_store
from orchestrator.state.graph_state import OrchestratorState
from tests.faults.children import CONFIG, Place
from tests.faults.story import STORIES, Log, build, execution, row_of, told

_BY_CHANCE = ("started_at", "time", "asked_at", "answered_at", "latency_ms", "run_id")
_ORDER = ("commit", "execute", "assess", "evaluate", "supervise")
Line = Mapping[str, Any]


class Harm(NamedTuple):
    """What a fault did to a run.

    Attributes:
        lost: Executions of the undisturbed run that are missing or other than they were.
        twice: Executions that are there twice, and calls for what was kept already.
        wrong: Whether the run ended otherwise than the undisturbed one, or did not say clearly what failed.
    """

    lost: int
    twice: int
    wrong: bool


NONE = Harm(0, 0, False)


def find_harm(story: str, place: Place, *, twice: int = 0, wrong: bool = False) -> Harm:
    """Compare the run that is kept at a place with one that was not disturbed; add what was seen before."""
    with open_store(place.store) as store:
        state = build(STORIES[story], place.log, store.saver).graph.get_state(CONFIG).values
    whole = undisturbed(story)
    found, wanted = _records(state), _records(whole)
    lost = sum(found.get(key) != record for key, record in wanted.items())
    twice += len(state["results"]) + len(state["synthesis"]) - len(found)
    twice += done_again([json.loads(line) for line in place.log.lines()])
    return Harm(lost, twice, wrong or _rest(state) != _rest(whole))


@cache
def undisturbed(story: str) -> OrchestratorState:
    """The state in which a story ends that nothing happens to."""
    with TemporaryDirectory() as folder:
        return told(
            build(STORIES[story], Log(Path(folder) / "log"), InMemorySaver()), STORIES[story], begun=False
        )


def done_again(lines: Sequence[Line]) -> int:
    """Calls for what was done already, by the store or by what followed it; keys shared or changed."""
    calls = [line for line in lines if line["what"] in _ORDER]
    return _after_it_was_kept(lines) + _out_of_order(calls) + _shared_keys(calls)


def _after_it_was_kept(lines: Sequence[Line]) -> int:
    again, kept = 0, dict[str, bool]()
    for line in lines:
        if line["what"] == "kept":
            kept.update(line["settled"])
        elif (one := execution(line["step"], line["attempt"])) in kept:
            again += kept[one] or line["what"] in ("commit", "execute")
    return again


def _out_of_order(calls: Sequence[Line]) -> int:
    """Nothing begins before what it follows from is in the store; so only the last call may come again."""
    again, row, latest = 0, 0, dict[str, tuple[int, int]]()
    for line in calls:
        step, at = line["step"], (line["attempt"], _ORDER.index(line["what"]))
        again += row_of(step) < row or at < latest.get(step, at)
        row, latest[step] = max(row, row_of(step)), max(at, latest.get(step, at))
    return again


def _shared_keys(calls: Sequence[Line]) -> int:
    """The same execution has the same key whenever it is begun, and no other one has it."""
    named = {(line["key"], line["step"], line["attempt"]) for line in calls if line["what"] == "execute"}
    keys = {key for key, *_ in named}
    executions = {tuple(one) for _, *one in named}
    return 2 * len(named) - len(keys) - len(executions)


def _records(state: OrchestratorState) -> dict[tuple[int, int], object]:
    executions = [*state["results"], *state["synthesis"]]
    return {(one["step_index"], one["attempt"]): _lasting(one) for one in executions}


def _rest(state: OrchestratorState) -> object:
    return _lasting({**state, "results": [], "synthesis": []})


def _lasting(value: object) -> object:
    """A value without what differs between any two runs."""
    if isinstance(value, Mapping):
        return {name: _lasting(one) for name, one in value.items() if name not in _BY_CHANCE}
    return [_lasting(one) for one in value] if isinstance(value, list | tuple) else value

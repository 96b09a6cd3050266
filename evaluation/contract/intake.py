"""Reads a case from the caller's data, or lists its problems; wrong data never raises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from pydantic import BaseModel, ValidationError

from evaluation.contract.contract import EvaluationCase, EvaluationContract
from evaluation.contract.recorded_messages import Doubt, import_run
from evaluation.contract.requirements import FIELD_PATHS, Contract
from evaluation.contract.run import MEASURES
from evaluation.errors import ContractError
from evaluation.importers.imported_message import dump_message
from evaluation.sensitive.scanner import shorten
from evaluation.validation import (
    MAX_PROBLEMS,
    copy_json,
    describe_errors,
    find_odd_values,
    limit_problems,
    list_field_paths,
)
from evaluation.values import JsonObject, as_object

_LONGEST_NAME: Final = 200
_CASE: Final = frozenset(EvaluationCase.model_fields)
_EVALUATED: Final = frozenset({"contract", "evaluation_report"})
"""Fields that only the final state of an evaluation has."""
_NORMALIZED: Final = frozenset(
    {"reference_output", "expected_trajectory", "trajectory_match_mode", "thresholds", "rubric"}
)
"""Fields of the contract that the state has in another form."""
_CONTRACT: Final = frozenset(EvaluationContract.model_fields)
_FIELDS: Final = tuple(dict.fromkeys((*list_field_paths(EvaluationCase), *FIELD_PATHS)))


@dataclass(frozen=True, slots=True)
class AcceptedCase:
    """A valid case: its contract, its run and further fields, also as plain JSON and as JSON text."""

    contract: Contract
    case: EvaluationCase
    plain: dict[str, object]
    text: str
    output: str = ""
    """The final output, or the assistant's last message; empty if the run has not finished."""
    doubts: tuple[Doubt, ...] = ()
    """The reasons why the record cannot be trusted."""


@dataclass(frozen=True, slots=True)
class RefusedCase:
    """An invalid case, with one sentence for each problem."""

    problems: tuple[str, ...]
    case_id: str | None = None
    quoted: object = None
    """The JSON value that the problems quote."""


@dataclass(frozen=True, slots=True)
class UnreadableCase:
    """Stands for a case that could not be read from its file; ``evaluate`` reports it as invalid."""

    where: str
    problem: str


def with_baseline(case: object, baseline: object) -> object:
    """Return the case with ``baseline`` in place of its ``baseline_metrics``."""
    plain = _to_plain(case)
    compared = {"runs": [*baseline]} if isinstance(baseline, list | tuple) else baseline
    return {**plain, "baseline_metrics": compared} if isinstance(plain, Mapping) else plain


def with_contract(case: object, contract: object) -> object:
    """Return the case with ``contract`` in place of its own demands.

    Raises:
        ContractError: The contract is no object.
    """
    plain = _to_plain(case)
    stated = contract.model_dump(exclude_unset=True) if isinstance(contract, BaseModel) else contract
    if not isinstance(stated, Mapping):
        raise ContractError(
            f'contract is a {type(stated).__name__}; give an object, such as {{"must_call": ["get_order"]}}'
        )
    if not isinstance(plain, Mapping):
        return plain
    return {**{name: value for name, value in plain.items() if name not in _CONTRACT}, **stated}


def read_case(data: object) -> AcceptedCase | RefusedCase:
    """Validate a case: an object in the document's shape, an ``EvaluationCase``, or an evaluated state.

    A list, or an object whose ``messages`` are one, is the messages of a run without a contract.

    An accepted case shares nothing with ``data``, but a ``Contract`` in its field ``contract``, which is
    valid already and stands for the fields of a contract.
    """
    if isinstance(data, UnreadableCase):
        return RefusedCase((f"{data.where}: {data.problem}",), data.where)
    if (value := restore_case(_to_plain(data))) == []:
        return RefusedCase(("the list of messages is empty; give the messages of a run",))
    contract = value.get("contract") if isinstance(value, Mapping) else None
    if not isinstance(contract, Contract):
        contract = None
    elif isinstance(value, Mapping):
        value = {**contract.plain, **{name: each for name, each in value.items() if name != "contract"}}
    copy = copy_json(value)
    return _refuse_values(value) if copy is None else _validate(*copy, contract)


def select_fields(state: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a case in the state of a larger graph, which may have been evaluated before."""
    case = as_object(restore_case(state))
    return {name: value for name, value in case.items() if name in _CASE or isinstance(value, Contract)}


def restore_case(value: object) -> object:
    """Return the case of the final state of an evaluation; any other value as it is."""
    if not isinstance(value, Mapping) or not value.keys() >= _EVALUATED:
        return value
    stated = {name: each for name, each in value.items() if name in _CASE - _NORMALIZED}
    return {**as_object(value["contract"]), **stated}


def merge_metadata(plain: JsonObject) -> dict[str, object]:
    """Join the metadata of all its places, of which the last one holds; null counts as absent."""
    run = as_object(plain.get("agent_run"))
    measures = {name: value for name, value in run.items() if name in MEASURES}
    places = (measures, as_object(run.get("metadata")), as_object(plain.get("run_metadata")))
    return {name: value for place in places for name, value in place.items() if value is not None}


def _validate(value: object, text: str, contract: Contract | None) -> AcceptedCase | RefusedCase:
    own = {name: each for name, each in as_object(value).items() if name not in _CONTRACT}
    fields = value if contract is None else own
    try:
        case = EvaluationCase.model_validate(fields)
    except ValidationError as error:
        return refuse_case(describe_errors(error, value, _FIELDS), value)
    return _import_messages(case, contract or Contract.of(case), _name_input(as_object(value)), text)


def _name_input(plain: dict[str, object]) -> dict[str, object]:
    """Write ``user_input`` of the run as ``input``."""
    run = as_object(plain["agent_run"])
    if "user_input" not in run:
        return plain
    rest = {name: value for name, value in run.items() if name != "user_input"}
    return {**plain, "agent_run": {"input": run["user_input"], **rest}}


def _import_messages(
    case: EvaluationCase, contract: Contract, plain: JsonObject, text: str
) -> AcceptedCase | RefusedCase:
    run = as_object(plain["agent_run"])
    try:
        imported = import_run(run, case.agent_run, contract.rules)
    except ContractError as error:
        return refuse_case([f"agent_run.{error}"], plain)
    if imported.run is not case.agent_run:
        case = case.model_copy(update={"agent_run": imported.run})
    plain = {**plain, "agent_run": imported.plain}
    return AcceptedCase(contract, case, plain, text, imported.output, imported.doubts)


def refuse_case(problems: Sequence[str], value: object, quoted: object = None) -> RefusedCase:
    """Refuse a case; ``quoted`` is the JSON value that the problems quote, by default the case."""
    # Without its name, a refused case could not be found among many reports.
    name = value.get("case_id") if isinstance(value, Mapping) else None
    case_id = shorten(name, _LONGEST_NAME) if isinstance(name, str) else None
    return RefusedCase(tuple(problems), case_id, value if quoted is None else quoted)


def _to_plain(data: object) -> object:
    """Write a case that is a model as an object, and messages alone as a case without a contract."""
    if isinstance(data, Mapping) and "agent_run" not in data and isinstance(data.get("messages"), list):
        data = data["messages"]  # the state of an agent of LangChain
    if isinstance(data, list | tuple) and data:
        messages = [dump_message(message) for message in data]
        return {"agent_run": {"messages": messages}, "audit": {"defects": "fail"}}
    # Only fields that are set: a default that is written out would count as a demand of the contract.
    return data.model_dump(exclude_unset=True, warnings=False) if isinstance(data, BaseModel) else data


def _refuse_values(value: object) -> RefusedCase:
    # A value that contains itself has a problem at each of endlessly many paths.
    problems = list(islice(find_odd_values(value), 10 * MAX_PROBLEMS))
    return refuse_case(limit_problems(problems) or ["the case cannot be written as JSON"], value, problems)

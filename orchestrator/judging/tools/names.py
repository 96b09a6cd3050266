"""Compares the tools that a contract names with the tools that the executor has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from langchain_core.tools import BaseTool
from pydantic import ValidationError

from agents import ExecutionAgent
from evaluation import EvaluationContract
from evaluation.inputs.named_tools import NamedTools, list_named_tools
from evaluation.metrics.trajectory.match_result import list_names
from evaluation.metrics.trajectory.rules.misspellings import is_other_spelling
from evaluation.sensitive.quoting import quote_text
from orchestrator.state.records import Json


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of the executor's tools; None if they are unknown, so that every name is accepted."""

    known: tuple[str, ...] | None = None

    def find_problem(self, contract: EvaluationContract | Mapping[str, Json] | None) -> str | None:
        """Return why a contract cannot be met or is misspelt, beginning with its field; None if it is fine.

        A name is a problem if a tool of that name has to be called, or if it is another spelling of a tool.
        """
        for named, name in self._list_unknown(contract):
            meant = self._find_misspelt(name, named)
            is_missing = named.is_required and not self._has_any(named)
            if meant is not None or is_missing:
                return f"{named.field} names {quote_text(name)}; {self._describe_lack(name, meant)}"
        return None

    def list_warnings(self, contract: EvaluationContract | Mapping[str, Json] | None) -> list[str]:
        """Return a sentence for each name that has no effect, because the executor has no such tool."""
        return [
            f"{named.field} names {quote_text(name)}, without effect: {self._describe_lack(name, None)}"
            for named, name in self._list_unknown(contract)
        ]

    def _list_unknown(
        self, contract: EvaluationContract | Mapping[str, Json] | None
    ) -> Iterator[tuple[NamedTools, str]]:
        known = self.known
        checked = None if known is None else _read_contract(contract)
        if known is None or checked is None:
            return
        for named in list_named_tools(checked):
            yield from ((named, name) for name in named.names if name not in known)

    def _has_any(self, named: NamedTools) -> bool:
        return not set(self.known or ()).isdisjoint(named.names)

    def _find_misspelt(self, name: str, named: NamedTools) -> str | None:
        """Return the tool that a name misspells, and that the field does not name besides."""
        others = [tool for tool in self.known or () if tool not in named.names]
        return next((tool for tool in others if is_other_spelling(name, tool)), None)

    def _describe_lack(self, name: str, meant: str | None) -> str:
        known = list(self.known or ())
        if not known:
            return "the executor has no tools; give it this tool, or leave the name out"
        similar = [meant] if meant is not None else get_close_matches(name, known, 1)
        hint = f"did you mean {quote_text(similar[0])}?" if similar else "name one of them, or none"
        return f"the tools of the executor are {list_names(known)}; {hint}"


def read_tool_names(executor: object) -> ToolNames:
    """Read the names of an executor's tools, if it is an ExecutionAgent or has a list of LangChain tools."""
    tools = getattr(executor, "tools", None)
    if not isinstance(tools, Sequence) or not all(isinstance(tool, BaseTool) for tool in tools):
        return ToolNames()
    # An empty list of an object of another kind may be a default that says nothing.
    if not tools and not isinstance(executor, ExecutionAgent):
        return ToolNames()
    return ToolNames(tuple(dict.fromkeys(tool.name for tool in tools)))


def read_planned_tools(executor: object, contract: object) -> ToolNames:
    """Read the tools that the contracts of a plan may name: any, if the caller's contract replaces theirs."""
    is_replaced = isinstance(contract, EvaluationContract) or callable(contract)
    return ToolNames() if is_replaced else read_tool_names(executor)


def _read_contract(contract: EvaluationContract | Mapping[str, Json] | None) -> EvaluationContract | None:
    if contract is None or isinstance(contract, EvaluationContract):
        return contract
    try:
        return EvaluationContract.model_validate(contract)
    except ValidationError:
        # A contract from a store may have any form; its evaluation refuses it.
        return None

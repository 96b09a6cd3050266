"""Draws a compiled graph, without a network service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.graph.build import Graph


class DrawMethods:
    """The methods of an orchestrator that draw its graph."""

    graph: Graph

    def draw_mermaid(self) -> str:
        """Return the graph as Mermaid text."""
        return self.graph.get_graph().draw_mermaid()

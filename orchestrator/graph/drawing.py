"""Draws a compiled graph, without a network service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import DrawingError

if TYPE_CHECKING:
    from orchestrator.graph.build import Graph


class DrawMethods:
    """The methods of an orchestrator that draw its graph."""

    graph: Graph

    def draw_mermaid(self) -> str:
        """Return the graph as Mermaid text."""
        return self.graph.get_graph().draw_mermaid()

    def draw_png(self) -> bytes:
        """Return the graph as a PNG picture.

        Raises:
            DrawingError: The package pygraphviz is not installed.
        """
        try:
            picture = self.graph.get_graph().draw_png(None)
        except ImportError as error:
            raise DrawingError(
                "a PNG picture needs the package pygraphviz, and Graphviz itself: "
                "pip install pygraphviz; draw_mermaid() needs neither"
            ) from error
        return picture

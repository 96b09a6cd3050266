"""Draws a compiled graph, without a network service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.errors import DrawingError
from orchestrator.graph.step import RouteGraph

if TYPE_CHECKING:
    from langchain_core.runnables.graph import Graph as Drawing

    from orchestrator.graph.build import Graph


class DrawMethods:
    """The methods of an orchestrator that draw its graph."""

    graph: Graph

    def draw_mermaid(self) -> str:
        """Return the graph as Mermaid text."""
        return _draw_all_routes(self.graph).draw_mermaid()

    def draw_png(self) -> bytes:
        """Return the graph as a PNG picture.

        Raises:
            DrawingError: The package pygraphviz is not installed.
        """
        try:
            picture = _draw_all_routes(self.graph).draw_png(None)
        except ImportError as error:
            raise DrawingError(
                "a PNG picture needs the package pygraphviz, and Graphviz itself: "
                "pip install pygraphviz; draw_mermaid() needs neither"
            ) from error
        return picture


def _draw_all_routes(graph: Graph) -> Drawing:
    """Returns LangGraph's drawing with every route."""
    # LangGraph draws one edge for two routes that lead to the same node.
    drawing = graph.get_graph()
    drawn = {(edge.source, edge.target, str(edge.data)) for edge in drawing.edges}
    routes = graph.builder.routes if isinstance(graph.builder, RouteGraph) else []
    for source, label, target in routes:
        if (source, target, label) not in drawn:
            drawing.add_edge(drawing.nodes[source], drawing.nodes[target], label, conditional=True)
    return drawing

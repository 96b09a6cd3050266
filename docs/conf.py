"""Configures Sphinx: pages in Markdown, the reference from docstrings.

Sphinx, because its API reference is a finished part of it: MkDocs and Material for MkDocs are no longer
developed, and Zensical calls its own reference preliminary.
"""

from importlib.metadata import version as installed_version

project = "plan-execute-monitor"
author = "The plan-execute-monitor maintainers"
version = release = installed_version(project)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinxcontrib.mermaid",
]
html_theme = "furo"
html_title = project

myst_enable_extensions = ["colon_fence", "deflist"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
napoleon_google_docstring = True

"""The commands as users type them: one module per topic, with signatures and help texts only.

Each command imports its work when it runs, so that the help appears without loading LangGraph.
"""

"""One command at work: its orchestrator and store, its signals, and the answers of a person."""

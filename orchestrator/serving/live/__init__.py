"""The runs that this process executes, and the events of every run."""

"""Files of cases: tasks with the contracts of their final outputs, in YAML or JSON."""

"""Words of tasks: their classes, other wordings of the same demand, and German ones."""

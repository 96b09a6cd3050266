"""What users type: the options that commands share, tasks, durations and tools."""

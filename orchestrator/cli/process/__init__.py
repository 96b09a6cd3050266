"""Begins and ends the process: the first words on the screen, Ctrl-C, and exit statuses."""

"""The kinds of checks, by what they look at; ``evaluation/checks/check_kinds.py`` lists all of them."""

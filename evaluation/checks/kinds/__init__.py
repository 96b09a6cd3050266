"""The kinds of checks, by what they look at; ``evaluation/checks/contract_checks.py`` lists all of them."""

"""Rules for amounts: how many things there are, how often they occur, and which are forbidden."""

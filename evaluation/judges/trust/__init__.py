"""Measures how often a judge accepts wrong outputs, and keeps the figures for each judge."""

"""Pure functions that score one recorded run; none imports a framework."""

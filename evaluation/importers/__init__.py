"""Reads the formats in which runs are recorded, one format in each module; ``known_formats`` lists them."""

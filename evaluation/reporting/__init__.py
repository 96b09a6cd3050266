"""Self-contained HTML reports: text, tables and charts in one file, without any network."""

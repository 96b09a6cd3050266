"""Rules for the layout: forms and formats, parts and sections, the start, the end and the frame."""

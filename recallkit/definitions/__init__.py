"""Documents: from a text to a checked definition, and a definition in plain words."""

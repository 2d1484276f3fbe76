"""Folding, watching, seeking, running: what a view is made of."""

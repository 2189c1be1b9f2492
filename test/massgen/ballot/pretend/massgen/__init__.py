"""Stands in for MassGen where only its outline matters: the same fault in a hundred lines, for any Python, in 50 ms."""

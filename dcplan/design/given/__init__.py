"""A network as it stands: what it carries, what limits it, what would help."""

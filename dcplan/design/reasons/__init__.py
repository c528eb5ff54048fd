"""Why there is no design, what binds in one, and what would suffice, in words with numbers."""

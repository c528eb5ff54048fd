"""A step explained: each term with its formula, what goes into it, its source, and the step without it."""

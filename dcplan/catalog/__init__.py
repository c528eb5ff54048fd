"""The catalog: parts, accelerators, models and prices that ship with dcplan, each with its source and confidence."""

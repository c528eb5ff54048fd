"""The functions behind the commands: load, check, optics, steps, plan, assess, verify, diff."""

"""The command line: one file per command, each parses, calls one api function and hands the result to report."""

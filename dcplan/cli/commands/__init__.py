"""One file per command: `run` parses, calls one function of `dcplan.api` and hands the result to `dcplan.report`."""

"""The design: candidates, the two-layer integer program, its solver, spectrum, reasons, a check without the solver."""

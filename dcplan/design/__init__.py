"""The design: candidates, the two-layer integer program, its solver, spectrum, reasons, and a check without the solver."""

"""How near the training model is to published runs: the runs, the comparison, and the fit of its calibrations."""

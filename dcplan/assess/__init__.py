"""A plan under failure: what each job still gets in each state, and how long its step takes."""

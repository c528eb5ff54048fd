"""What a site is made of, as a step sees it: accelerators, their memory and fabric, collectives inside."""

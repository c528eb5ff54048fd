"""Traffic of each state over what is lit: rerouted, checked, routed, shared fairly."""

"""Rules on the topology alone, one small module per family."""

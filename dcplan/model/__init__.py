"""The topology file: reading, schema, names, rules, and the network they make."""

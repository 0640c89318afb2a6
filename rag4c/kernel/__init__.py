"""Pure Python, no Django: errors, actors and grants, state tables, canonical JSON, clock, environment, ports."""

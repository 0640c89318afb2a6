"""Pure rules of answering: no Django, no clock, no database, no model; what they need is handed in."""

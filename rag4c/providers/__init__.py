"""Models behind small protocols: importing this package needs no model, no SDK and no network."""

"""Exact BM25 under a visible mask, over immutable postings. Pure Python and numpy: knows no Django and no database."""

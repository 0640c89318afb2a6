"""Postgres with pgvector and Redis out of wheels, and the processes of `make run`. Knows only the kernel; no Django."""

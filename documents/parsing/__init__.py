"""Parsers: bytes of one file in, one Extract out. Pure Python, so that a limited child process can load it fast."""

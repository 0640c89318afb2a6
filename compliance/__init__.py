"""Matters, holds, retention, deletion, exports: rows of the systems map that later releases fill."""

#!/usr/bin/env python3
"""Django's commands. DDL commands log in as the owner of the tables, everything else as the app."""

import os
import sys

OWNER_COMMANDS = {"migrate", "sqlmigrate", "showmigrations", "makemigrations", "lintmigrations"}

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rag4c.settings")
    if sys.argv[1:2] and sys.argv[1] in OWNER_COMMANDS:
        os.environ["RAG4C_DB_ROLE"] = "owner"
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)

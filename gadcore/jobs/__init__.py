"""Long work, done by processes of its own: one table, one runner, a file for each kind of job.

    ask (a page, the command line) → row of the table → worker of the kind's lane → outcome on the row

A new kind is a file here and a line in ``kinds.py``. Importing this room imports nothing heavy.
"""

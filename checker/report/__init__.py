"""A check's outcome, written down: for people (`table`), for programs (`json_report`, `junit`), for GitHub (`github`).

Each takes a `Run` and returns text; none of them decides anything, and none writes a file.
"""

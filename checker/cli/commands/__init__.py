"""One module a sub-command: `parser()` says what it takes, `run(arguments)` does it and answers the exit code."""

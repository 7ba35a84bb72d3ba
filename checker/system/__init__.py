"""The checker on the machine that it runs on: terminal, files, processes, signals, memory."""

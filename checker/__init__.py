"""The engines, reports and the command line."""

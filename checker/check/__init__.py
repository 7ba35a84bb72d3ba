"""One question from request to report: jobs, conclusion, tables, JSON, JUnit, annotations."""

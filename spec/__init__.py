"""The specification: rules with ids, properties, claims."""

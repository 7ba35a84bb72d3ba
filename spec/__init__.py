"""What must hold: rules with ids, properties, claims."""

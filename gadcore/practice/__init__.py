"""Practice on a project whose answers are known: simulated analysts, or a person on a copy."""

"""The order of a run's cases."""

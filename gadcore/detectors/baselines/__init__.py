"""Methods that the paper compares with, and others that any graph model must beat."""

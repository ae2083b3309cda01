"""Which case comes next, and what the verdicts so far tell: strategies, random checks, probabilities."""

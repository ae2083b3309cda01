"""What can be said of a case, of the verdicts and of two runs: reasons, groups, movement, agreement."""

"""What torch detectors are made of: sparse products, receptive fields, encoders, the training loop."""

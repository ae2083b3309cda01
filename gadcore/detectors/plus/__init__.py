"""``an+``, the product default: see ensemble.py."""

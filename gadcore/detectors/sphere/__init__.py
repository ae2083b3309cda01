"""The models of the paper, AN and N: embeddings around a centre."""

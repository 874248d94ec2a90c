"""Fitting the weights by which retrieval combines the evidence of the tree."""

"""Fitting the weights by which retrieval joins the evidence of the tree."""

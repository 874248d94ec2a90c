"""Two runs of the same questions: is the second better than the first, or is that chance?"""

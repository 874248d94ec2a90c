"""Do the passages answer the question?"""

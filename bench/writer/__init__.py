"""What becomes of a good language model's words on their way to the reader?"""

"""How good are passages and answers?"""

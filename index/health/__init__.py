"""Is a corpus sound?"""

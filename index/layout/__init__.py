"""A corpus's folder: manifest, lock, swap, and where its stores are."""

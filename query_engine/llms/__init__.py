"""Language models that can write an answer: local ones and servers."""

"""The steps that come with the project; a file for each family. `pipelines/registry.py` lists them."""

"""Questions in the formats that other people publish them in.

To add a format: write one file beside `bedrock.py` with a pydantic row, a function from its JSON to a `Case` and a
`Format`, list the `Format` in `reading.py`, and give it a file in the tests. A format that is a folder, as BEIR's,
needs a branch in `read_questions` as well.
"""

"""Questions in the formats that other people publish them in.

To add a format of one question a row: a class in `formats.py`, listed in its `FORMATS`, and a file in the tests. A
format that is a folder or one JSON value needs a branch in `reading.py`.
"""

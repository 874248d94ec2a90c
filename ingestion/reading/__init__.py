"""From files to documents; `reader.py` is the door, `files.py` lists what there is to read."""

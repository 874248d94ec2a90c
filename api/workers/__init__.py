"""Several processes behind one port: one of them writes, the others read."""

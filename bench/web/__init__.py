"""A local stand-in of the competition's search services."""

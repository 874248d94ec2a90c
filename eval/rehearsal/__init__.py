"""The competition's whole course before the competition: a service -> what its ranking would see."""

"""What the product promises, one row each in `promises.toml`, and the tests that show it."""

"""One question through HTTP: admission, cache, stream."""

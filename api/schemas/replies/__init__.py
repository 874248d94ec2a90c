"""What replies look like: the models that are sent, and described by `/openapi.json`."""

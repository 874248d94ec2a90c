"""What replies look like, for `/openapi.json` alone: the views send plain values and pass through no model."""

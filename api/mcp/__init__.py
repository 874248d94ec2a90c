"""The service as a server of MCP, the Model Context Protocol: its tools, over HTTP and over stdio."""

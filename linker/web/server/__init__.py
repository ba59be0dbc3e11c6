"""The HTTP server: its socket, who may send requests, and which."""

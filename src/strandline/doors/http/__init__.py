"""The native HTTP API: `app.build_app` makes the ASGI application, `server.run_server` serves it."""

"""The parser over HTTP: a JSON API, the REST API of UDPipe, and a page for the browser.

`app.make_app` makes it one ASGI application, `server.run_server` listens with it.
"""

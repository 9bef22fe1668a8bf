"""The parser over HTTP: a JSON API, the REST API of UDPipe, and the page in the browser.

`app.make_app` is the whole as one ASGI application, `server.run` listens with it.
"""

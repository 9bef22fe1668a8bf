"""The page for the browser: a fixed table of files, read once at the start.

Requests look up the table and nothing else, so none reaches the file system. The page may load its
own files and use its own server, nothing else, and contains no inline code.
"""

import hashlib
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "webmanifest": "application/manifest+json",
    "txt": "text/plain; charset=utf-8",
}
"""By the suffix of a file; files with other suffixes are not served."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    # Names are the same in all releases: browsers ask each time, and get 304 if nothing changed.
    "cache-control": "no-cache",
}
INDEX = "index.html"
RELATIONS = "relations.json"
"""The glossary of labels, which is not in the folder of the page."""
NO_PAGE = "headwise: the API is described at /openapi.json; this installation has no page.\n"


def page_routes() -> list[Route]:
    """Make a route for each file of the page: `/`, and `/static/NAME` for the others."""
    table = read_files(files("headwise.serve") / "page")
    table[RELATIONS] = (files("headwise.treebank") / RELATIONS).read_bytes(), TYPES["json"]
    index = table.pop(INDEX, (NO_PAGE.encode(), TYPES["txt"]))
    named = [file_route(f"/static/{name}", *file) for name, file in table.items()]
    return [file_route("/", *index), *named]


def read_files(folder: Traversable) -> dict[str, tuple[bytes, str]]:
    """Read the files of a folder and their types, without those in folders inside it."""
    entries = sorted(folder.iterdir(), key=lambda entry: entry.name) if folder.is_dir() else []
    typed = ((entry, TYPES.get(entry.name.rpartition(".")[2])) for entry in entries)
    return {
        entry.name: (entry.read_bytes(), media_type)
        for entry, media_type in typed
        if media_type and entry.is_file()
    }


def file_route(path: str, data: bytes, media_type: str) -> Route:
    """Make the route of one file."""
    etag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
    headers = HEADERS | {"etag": etag}

    async def send(request: Request) -> Response:
        known = request.headers.get("if-none-match", "")
        if etag in (tag.strip().removeprefix("W/") for tag in known.split(",")):
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers | {"content-type": media_type})

    return Route(path, send, methods=["GET"])

"""The fields of a form: from a query, a form, or one in parts with a file.

Written out here since a library would put files on disk, and read broken UTF-8 as something else:
a form is held in memory, is small, and is refused when it is broken.
"""

from email.message import Message
from urllib.parse import parse_qsl

from headwise.serve.limits import Refusal

MAX_FIELDS = 32
_HINT = "send UTF-8, and parts with Content-Disposition: form-data; name=..."


def read_query(text: bytes | str) -> dict[str, str]:
    """Read `name=value&name=value`; a name alone is empty, the last of a name wins."""
    try:
        written = text if isinstance(text, str) else text.decode("utf-8")
        pairs = parse_qsl(
            written, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError as error:
        raise Refusal(400, f"the form cannot be read: {error}", "encode it as UTF-8") from None
    return dict(pairs)


def read_parts(body: bytes, content_type: str) -> dict[str, str]:
    """Read `multipart/form-data`; a file is a field like any other."""
    boundary = _parameter(content_type, "boundary")
    if not boundary or len(boundary) > 200:
        raise Refusal(400, "the form has no boundary", _HINT)
    mark = b"\r\n--" + boundary.encode("utf-8", "replace")
    _, *parts = (b"\r\n" + body).split(mark, MAX_FIELDS + 1)
    if not parts or not parts[-1].startswith(b"--"):
        raise Refusal(400, "the form does not end, or has too many fields", _HINT)
    return dict(_read_part(part) for part in parts[:-1])


def _read_part(part: bytes) -> tuple[str, str]:
    head, found, content = part.partition(b"\r\n\r\n")
    headers = Message()
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.decode("utf-8", "replace").partition(":")
        headers[name.strip()] = value.strip()
    name = _parameter(headers.get("content-disposition", ""), "name")
    if not found or not name:
        raise Refusal(400, "a part of the form has no name", _HINT)
    if headers.get("content-transfer-encoding", "binary").lower() not in ("7bit", "8bit", "binary"):
        raise Refusal(400, f"the field {name[:40]!r} is encoded", "send it as it is")
    try:
        return name, content.decode("utf-8")
    except UnicodeDecodeError:
        raise Refusal(400, f"the field {name[:40]!r} is not UTF-8", _HINT) from None


def _parameter(header: str, name: str) -> str:
    message = Message()
    message["content-type"] = header
    value = message.get_param(name, "")
    return value if isinstance(value, str) else ""

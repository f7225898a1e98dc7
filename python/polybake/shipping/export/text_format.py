"""The little of protobuf's text format that configurations need."""


def text_literal(value: str) -> str:
    """Return a string in quotes; bytes that are not plain ASCII are written in octal.

    Source: Protocol Buffers, "Text Format Language", string literals.
    """
    plain = bytes(range(0x20, 0x7F)).translate(None, b'"\\')
    escaped = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in value.encode())
    return f'"{"".join(escaped)}"'

"""The little of protobuf's text format that configurations need."""


def text_literal(value: str) -> str:
    """A string in quotes; what is no plain ASCII is written as the octal numbers of its bytes.

    Source: Protocol Buffers, "Text Format Language", string literals.
    """
    plain = bytes(range(0x20, 0x7F)).translate(None, b'"\\')
    escaped = (chr(byte) if byte in plain else f"\\{byte:03o}" for byte in value.encode())
    return f'"{"".join(escaped)}"'

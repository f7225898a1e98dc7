"""Contracts that try to break out of generated code: by content, and by length."""

from __future__ import annotations

from typing import Any

HOSTILE = (
    '\' " \\ \r \n \u2028 \u2029 */ """ #{1} #$x ${1} {{ 1 }} {% x %} ` ]]> ../ <!-- </a> '
    "\u202e \U0001f469"
)

CONTRACTS: dict[str, dict[str, Any]] = {
    "none": {"prompts": {}},
    "short": {"prompts": {"query": "q: ", "document": "d: "}},
    "long": {"prompts": {"query": "Represent this sentence " * 12, "Retrieval-query": "x" * 300}},
    "hostile": {
        "prompts": {
            HOSTILE: HOSTILE,
            "query": "\0\x1b[0m \ufeff",
            "__proto__": "\u2066\u200b #@x \x7f \U0001f469\u200d\U0001f4bb \U000e0041",
            "constructor": "\\u0041 \\x41 %s {0}",  # like the one above, what objects inherit
            "1": "",  # some sort numbers first
        }
    },
}

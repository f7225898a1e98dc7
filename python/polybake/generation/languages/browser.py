"""Browser clients: those of Node, but for what a page has in the place of files and native code."""

from dataclasses import replace

from polybake.generation.languages.node import NODE

BROWSER = replace(
    NODE,
    name="browser",
    programs=("node", "npm", "chromium"),
    base="node",
    shares={"src/tokenizer.wasm": "wasm/tokenizer.wasm"},
    beside=False,
)

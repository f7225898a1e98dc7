"""vocab.txt, vocab.json and merges.txt, which are not trusted."""

import json

from polybake.base.files.model_folder import ModelFolder
from polybake.base.files.printable import printable
from polybake.errors import InputError

#: Far more than any published vocabulary has: its tokens, the characters of one, its file's bytes.
MOST_TOKENS, LONGEST_TOKEN, MOST_BYTES = 2_000_000, 1024, 64 * 2**20

#: The most characters of a value in a message.
_SHOWN = 60

_AGAIN = "download it again"
_LFS_POINTER = b"version https://git-lfs"

#: What ends a line's token: Unicode's White_Space.
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)


def read_bytes(folder: ModelFolder, name: str) -> bytes:
    """The content of a file that is needed.

    Raises:
        InputError: It is missing, too large, or a pointer of Git LFS in a file's place.
    """
    path = folder.needed_file(name)
    if (size := path.stat().st_size) > MOST_BYTES:
        raise InputError(f"{path}: has {size} bytes, expected at most {MOST_BYTES}; {_AGAIN}")
    content = path.read_bytes()
    if content.startswith(_LFS_POINTER):
        raise InputError(f"{path}: is a pointer of Git LFS, not the file; run: git lfs pull")
    return content


def read_vocab_txt(folder: ModelFolder) -> dict[str, int]:
    """The ids of the tokens in vocab.txt: the number of a token's line, from 0.

    White space behind a token is no part of it.

    Raises:
        InputError: The file is missing or damaged, or a token stands there twice.

    Source: tokenizers ``WordPiece::read_file``.
    """
    path, ids = folder.path / "vocab.txt", dict[str, int]()
    for number, line in enumerate(_lines(folder, "vocab.txt")):
        token = line.rstrip(_WHITE_SPACE)
        # No text gives the empty token, so it may fill up the lines of ids that are not used.
        if token in ids and token:
            raise InputError(
                f"{path}: {shown(token)} stands in lines {ids[token] + 1} and {number + 1}, "
                f"expected each token once; {_AGAIN}"
            )
        ids[token] = number
    check_tokens(folder, "vocab.txt", ids)
    return ids


def read_vocab_json(folder: ModelFolder) -> dict[str, int]:
    """The ids of the tokens in vocab.json.

    Raises:
        InputError: The file is missing or damaged, or its ids are not 0, 1, 2 and so on, each once.
    """
    path, content = folder.path / "vocab.json", read_bytes(folder, "vocab.json")
    if content.count(b":") > 2 * MOST_TOKENS:
        raise InputError(f"{path}: has more than {MOST_TOKENS} tokens; {_AGAIN}")
    try:
        pairs = json.loads(content.decode("utf-8"), object_pairs_hook=list)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON ({error}); {_AGAIN}") from error
    tokens = dict[int, str]()
    for pair in pairs if isinstance(pairs, list) else ():
        token, number = pair if isinstance(pair, tuple) else (pair, None)
        if type(number) is not int or not 0 <= number < len(pairs):
            raise InputError(
                f"{path}: {shown(str(token))} has the id {shown(number)}, expected "
                f"a whole number from 0 to {len(pairs) - 1}; {_AGAIN}"
            )
        if number in tokens:
            raise InputError(
                f"{path}: {shown(tokens[number])} and {shown(token)} have the id "
                f"{number}, expected one token for each; {_AGAIN}"
            )
        tokens[number] = token
    ids = {token: number for number, token in tokens.items()}
    if not ids or len(ids) < len(tokens):
        found = "a token twice" if ids else "no object of ids by token"
        raise InputError(f"{path}: has {found}; {_AGAIN}")
    check_tokens(folder, "vocab.json", ids)
    return ids


def read_merges(folder: ModelFolder, ids: dict[str, int]) -> list[tuple[str, str]]:
    """The pairs of merges.txt, the first one first.

    Args:
        folder: The model's.
        ids: The vocabulary, which has both tokens of a pair and what they give.

    Raises:
        InputError: The file is missing or damaged, or a token has no id.

    Source: tokenizers ``BPE::read_file``.
    """
    merges: list[tuple[str, str]] = []
    for number, line in enumerate(_lines(folder, "merges.txt")):
        if line.startswith("#version"):
            continue
        first, *second = line.split(" ")
        whole = "".join((first, *second))
        if len(second) != 1 or not {first, *second, whole} <= ids.keys():
            raise InputError(
                f"{folder.path / 'merges.txt'}: line {number + 1} is {shown(line)}, expected "
                f"two tokens of vocab.json that give a third; {_AGAIN}"
            )
        merges.append((first, second[0]))
    return merges


def check_tokens(folder: ModelFolder, name: str, tokens: dict[str, int]) -> None:
    """Check a vocabulary's tokens.

    Raises:
        InputError: There is none, or one that is no text or far too long.
    """
    path = folder.path / name
    if not any(tokens):
        raise InputError(f"{path}: has no token; {_AGAIN}")
    for token in tokens:
        if len(token) > LONGEST_TOKEN:
            raise InputError(
                f"{path}: a token has {len(token)} characters, expected at most {LONGEST_TOKEN}; "
                f"{_AGAIN}"
            )
        try:
            token.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"{path}: {shown(token)} has half of a surrogate pair, expected a text; {_AGAIN}"
            ) from error


def shown(value: object) -> str:
    """A value as a message shows it: on one line, and short."""
    text = repr(value)
    return printable(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _lines(folder: ModelFolder, name: str) -> list[str]:
    """The lines of a file without their ends, and without the empty ones that it ends with."""
    content, path = read_bytes(folder, name).rstrip(b"\r\n"), folder.path / name
    if content.count(b"\n") > MOST_TOKENS:
        raise InputError(f"{path}: has more than {MOST_TOKENS} lines; {_AGAIN}")
    try:
        return [line.removesuffix("\r") for line in content.decode("utf-8").split("\n")]
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8; {_AGAIN}") from error

"""Write docs/reference/limits.md and docs/reference/errors.md from the code.

`python tools/reference.py` writes both; a test proves that the committed files are what it writes, that every error
code of the code has a meaning here, and that every meaning has its code.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strandline import errors
from strandline.errors import StrandlineError
from strandline.model import limits
from strandline.wire.problem import PROBLEMS, STATUS_OF_CODE

ROOT: Final = Path(__file__).parents[1]
PACKAGE: Final = ROOT / "src" / "strandline"
LIMITS_PAGE: Final = ROOT / "docs" / "reference" / "limits.md"
ERRORS_PAGE: Final = ROOT / "docs" / "reference" / "errors.md"

CLASSES: Final = {name: getattr(errors, name) for name in errors.__all__}
FILLED_IN: Final = {"session_{}": ("session_ended", "session_archived")}
"""Codes that are put together, and what may come out."""

MEANINGS: Final[Mapping[str, str]] = {
    "address_in_use": "The server can't listen where it was told to: the port is taken, or may not be used.",
    "body_too_large": "The request is larger than one may be. Split the batch.",
    "conflict": "The request does not fit what is stored.",
    "control_character": "A name or a text holds a control character.",
    "cursor_of_another_session": "`after` or `before` names a turn of another session.",
    "error": "The root of the tree; nothing is raised with it.",
    "exclusive_fields": "Two fields that exclude each other, or a field that this kind of record does not have.",
    "external_id_conflict": "The external id already names another turn of the session.",
    "idempotency_in_flight": "The first request with this idempotency key still runs. Try again.",
    "idempotency_mismatch": "The idempotency key was used for another request.",
    "internal_error": "The server failed; its log says how.",
    "invalid_cursor": "The cursor is not one that this list gave.",
    "invalid_encoding": "The path, the query or a header is not UTF-8.",
    "invalid_etag": "`If-Match` is not one ETag of a state.",
    "invalid_id": "An id is not one: a slash, `.` or `..`, a prefix alone, or not the form of a turn's or memory's id.",
    "invalid_input": "A value can't be taken, and no other code says why.",
    "invalid_json": "The text is not JSON, or not UTF-8.",
    "invalid_length": "Too short or too long: a name, a text, an empty batch.",
    "invalid_patch": "An operation of a JSON Patch is malformed.",
    "invalid_request": "The HTTP request can't be read.",
    "invalid_time": "Not a time: write RFC 3339 such as `2026-05-01T10:15:00Z`.",
    "invalid_type": "The value is of another type than the field.",
    "invalid_url": "The URL names no store and no server.",
    "invalid_value": "The value is none of those that the field takes here.",
    "keys_required": "Without keys the server listens on a loopback address only.",
    "lone_surrogate": "The text holds half of a surrogate pair, which is no character.",
    "memory_not_found": "There is no such memory, or it does not hold at the time that was asked.",
    "method_not_allowed": "The path exists, but not with this method.",
    "missing_field": "A field that is needed is not there.",
    "naive_time": "The time has no offset from UTC.",
    "not_a_number": "The key to increment holds something else than a number.",
    "not_finite": "NaN, an infinity, or a number too large to be one.",
    "not_found": "What was named does not exist for this caller.",
    "not_json": "A value, or a key of it, is of a Python type that JSON does not have; the path to it is the field.",
    "out_of_range": "A number or a time lies outside what the field takes.",
    "patch_failed": "An operation of a JSON Patch does not apply; nothing was changed.",
    "repeated_parameter": "A query parameter is given twice.",
    "revision_conflict": "The state is not at the expected revision; `current` is the one it is at.",
    "schema_changed": "The file's schema was made by other statements than this version has.",
    "schema_newer": "The file was written by a newer version. Upgrade.",
    "server_unreachable": "No reply from the server at this address. Trying again may help.",
    "session_archived": "The session is archived and takes no more turns.",
    "session_ended": "The session has ended and takes no more turns.",
    "session_not_found": "There is no such session in this profile.",
    "source_not_found": "A memory of an import names a turn that did not come before it.",
    "outcome_unknown": "The database was lost while it committed, and can't say whether it did. Ask, then try again.",
    "pool_exhausted": "Every connection to the database was busy for too long. Try again, or allow more.",
    "store_closed": "The store or the connection was closed.",
    "store_corrupt": "The file is damaged. Restore a copy.",
    "store_error": "The database failed in a way that has no code of its own.",
    "store_foreign": "The file is another program's database, or none. It was not changed.",
    "store_missing": "There is no file at this place.",
    "store_unavailable": "The file can't be opened, is locked, or the disk is full. Trying again may help.",
    "too_deep": "Arrays and objects are nested too deep.",
    "too_large": "The value has too many bytes.",
    "too_many": "The batch, list or document has too many entries.",
    "turn_not_found": "There is no such turn in this profile.",
    "unexpected_reply": "Something answered that is not strandline, or not this version of it.",
    "unknown_field": "The document has a field that it does not have.",
    "unknown_parameter": "The operation has no such query parameter.",
    "unknown_route": "There is nothing at this path.",
    "unknown_value": "The value is none of the names that the field takes.",
    "unsupported_media_type": "The content type is none that the operation reads.",
    "wrong_host": "The `Host` or `Origin` is not this server's; without keys it answers to its own names only.",
}


@dataclass(frozen=True, slots=True)
class Raised:
    """A code at a place of the source, and the class of the error that carries it."""

    code: str
    kind: str
    place: str


def raised() -> Iterator[Raised]:
    """Every code in the source: those of the classes, and those that a call names."""
    for name, kind in CLASSES.items():
        yield Raised(kind.default_code, name, "errors.py")
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        yield from raised_in(ast.parse(path.read_text(encoding="utf-8")), place)


def raised_in(tree: ast.Module, place: str) -> Iterator[Raised]:
    """The codes that one file names; `ValueError` for a code that can't be read from the source."""
    for owner in [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))]:
        for call in _calls(owner):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            given = [keyword.value for keyword in call.keywords if keyword.arg == "code"]
            if name in CLASSES and given:
                for code in _values(given[0], owner, tree, f"{place}:{call.lineno}"):
                    yield Raised(code, name, f"{place}:{call.lineno}")


def _calls(owner: ast.AST) -> Iterator[ast.Call]:
    """The calls of a function or module, without those of the functions inside it."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.Call):
            yield node
        yield from _calls(node)


def _values(value: ast.expr, owner: ast.AST, tree: ast.Module, place: str) -> Iterator[str]:
    match value:
        case ast.Constant(value=str(code)):
            yield code
        case ast.IfExp(body=one, orelse=other):
            yield from _values(one, owner, tree, place)
            yield from _values(other, owner, tree, place)
        case ast.JoinedStr(values=parts):
            yield from FILLED_IN["".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)]
        case ast.Attribute(attr="code"):
            return  # the code of an error that is passed on
        case ast.Name(id=name):
            found = [*_constant(name, tree), *_argument(name, owner, tree), *_from_table(name, owner, tree)]
            if not found:
                raise ValueError(f"{place}: the code {name} can't be read from the source")
            yield from found
        case _:
            raise ValueError(f"{place}: the code {ast.unparse(value)} can't be read from the source")


def _constant(name: str, tree: ast.Module) -> Iterator[str]:
    """The string that a module constant holds."""
    value = _assigned(name, tree)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value


def _argument(name: str, owner: ast.AST, tree: ast.Module) -> Iterator[str]:
    """What the file's own calls hand in for a parameter of the function."""
    if not isinstance(owner, ast.FunctionDef):
        return
    names = [argument.arg for argument in owner.args.args]
    if name not in names:
        return
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == owner.name:
            given = {**dict(zip(names, call.args, strict=False)), **{one.arg: one.value for one in call.keywords}}
            yield from _values(given[name], tree, tree, owner.name)


def _from_table(name: str, owner: ast.AST, tree: ast.Module) -> Iterator[str]:
    """The column of a module's table that a loop unpacks under this name."""
    for loop in ast.walk(owner):
        if isinstance(loop, ast.For) and isinstance(loop.target, ast.Tuple) and isinstance(loop.iter, ast.Name):
            names = [getattr(part, "id", "") for part in loop.target.elts]
            table = _assigned(loop.iter.id, tree)
            if name in names and isinstance(table, ast.Tuple):
                for row in table.elts:
                    yield ast.literal_eval(row.elts[names.index(name)]) if isinstance(row, ast.Tuple) else ""


def _assigned(name: str, tree: ast.Module) -> ast.expr | None:
    for node in tree.body:
        target = (
            node.target
            if isinstance(node, ast.AnnAssign)
            else node.targets[0]
            if isinstance(node, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and target.id == name:
            return node.value if isinstance(node, ast.AnnAssign | ast.Assign) else None
    return None


def classes_of_codes() -> dict[str, set[str]]:
    """For each code, the classes of error that carry it: one, or the code says too little."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for one in raised():
        found[one.code].add(one.kind)
    return dict(found)


def errors_page() -> str:
    """The text of docs/reference/errors.md."""
    by_class: defaultdict[str, list[str]] = defaultdict(list)
    for code, kinds in classes_of_codes().items():
        by_class[min(kinds)].append(code)
    kinds = "\n".join(
        f"| `{name}` | {_parent(kind)} | {_status(kind)} | {_first_line(kind)} |" for name, kind in _in_tree_order()
    )
    codes = "\n".join(
        f"| `{code}` | `{name}` | {STATUS_OF_CODE.get(code, _status(kind))} | {MEANINGS[code]} |"
        for name, kind in _in_tree_order()
        for code in sorted(by_class[name])
    )
    return f"""# Errors

Written from the code by `python tools/reference.py`. All errors are in `strandline` and `strandline.errors`.

An error has a `code`, which is stable, a `message` for people, and `detail`: `field` says what was wrong, `limit` the
limit, `type` the type of the value that was refused. Over HTTP it is a problem document (RFC 9457) with the same names,
but `value_type` for the type, and the client raises the same class with the same code and detail.

## Classes

| class | is a | HTTP status | meaning |
|---|---|---|---|
{kinds}

A revision conflict is answered with 412 where the revision came in `If-Match`.

## Codes

| code | class | HTTP status | meaning |
|---|---|---|---|
{codes}
"""


def limits_page() -> str:
    """The text of docs/reference/limits.md."""
    tree = ast.parse(Path(limits.__file__).read_text(encoding="utf-8"))
    rows = []
    for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
            if not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
                raise ValueError(f"{name} has no docstring")
            rows.append(f"| `{name}` | {getattr(limits, name):,} | {' '.join(str(after.value.value).split())} |")
    body = "\n".join(rows)
    return f"""# Limits

Written from `strandline/model/limits.py` by `python tools/reference.py`. `CHARS` counts characters (Unicode code
points), `BYTES` bytes of UTF-8. What is beyond a limit is refused whole, with an error that states the limit, and
nothing of the request is stored.

| limit | value | of what |
|---|---|---|
{body}
"""


def _in_tree_order() -> list[tuple[str, type[StrandlineError]]]:
    return sorted(CLASSES.items(), key=lambda item: [kind.__name__ for kind in reversed(item[1].__mro__)])


def _parent(kind: type[StrandlineError]) -> str:
    return f"`{kind.__mro__[1].__name__}`"


def _status(kind: type[StrandlineError]) -> int:
    return next(row.status for row in PROBLEMS if issubclass(kind, row.error))


def _first_line(kind: type[StrandlineError]) -> str:
    return (kind.__doc__ or "").strip().splitlines()[0]


if __name__ == "__main__":
    for page, text in ((LIMITS_PAGE, limits_page()), (ERRORS_PAGE, errors_page())):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")

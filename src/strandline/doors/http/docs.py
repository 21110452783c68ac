"""The contract as one page to read: nothing in it comes from elsewhere, so that it works without a network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Final

_STYLE: Final = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:62rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}
pre{overflow-x:auto;padding:.75rem;border:1px solid #8884;border-radius:.4rem}
details{border:1px solid #8884;border-radius:.4rem;margin:.4rem 0;padding:.4rem .8rem}
summary{cursor:pointer}
table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0}
.method{display:inline-block;min-width:4.5rem;font-weight:700}
"""


def page(document: Mapping[str, Any]) -> str:
    """The HTML of a contract."""
    info = document["info"]
    title = f"{escape(info['title'])} API"
    about = "".join(f"<p>{_prose(part)}</p>" for part in info["description"].split("\n\n"))
    return "".join(
        (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
            f'<h1>{title}</h1>{about}<p>For machines: <a href="/openapi.json">/openapi.json</a></p>',
            *(_noun(tag["name"], document["paths"]) for tag in document["tags"]),
            "<h2>Documents</h2>",
            *(_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())),
            "</body></html>\n",
        )
    )


def _noun(noun: str, paths: Mapping[str, Mapping[str, Any]]) -> str:
    operations = (
        _operation(method, path, told)
        for path, methods in paths.items()
        for method, told in methods.items()
        if noun in told["tags"]
    )
    return f"<h2>{escape(noun.capitalize())}</h2>{''.join(operations)}"


def _operation(method: str, path: str, told: Mapping[str, Any]) -> str:
    bodies = "".join(
        f"<p>Body <code>{escape(media)}</code>: {_links(content['schema'])}</p>"
        for media, content in told.get("requestBody", {}).get("content", {}).items()
    )
    return "".join(
        (
            f'<details id="{escape(told["operationId"])}"><summary>',
            f'<span class="method">{method.upper()}</span><code>{escape(path)}</code> {_prose(told["summary"])}',
            "</summary>",
            f"<p>{_prose(told.get('description', ''))}</p>",
            _parameters(told["parameters"]),
            bodies,
            _responses(told["responses"]),
            "</details>",
        )
    )


def _parameters(parameters: Iterable[Mapping[str, Any]]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(told['name'])}</code></td><td>{escape(told['in'])}</td>"
        f"<td>{_prose(told['description'])}</td></tr>"
        for told in parameters
    )
    return f"<table>{rows}</table>" if rows else ""


def _responses(responses: Mapping[str, Mapping[str, Any]]) -> str:
    good = "".join(
        f"<p>{status}: {_links(told['content']['application/json']['schema'])}</p>"
        for status, told in responses.items()
        if "content" in told
    )
    problems = ", ".join(status for status, told in responses.items() if "$ref" in told)
    return f'{good}<p>{problems}: <a href="#Problem">Problem</a></p>'


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    text = escape(json.dumps(schema, indent=2, ensure_ascii=False))
    return f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary><pre>{text}</pre></details>'


def _links(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_links(each) for each in schema["anyOf"])
    if "items" in schema:
        return f"list of {_links(schema['items'])}"
    name = str(schema.get("$ref", "")).rpartition("/")[2]
    return f'<a href="#{escape(name)}">{escape(name)}</a>' if name else "any JSON object"


def _prose(text: str) -> str:
    """Text with its `code` marked."""
    parts = escape(text, quote=False).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))

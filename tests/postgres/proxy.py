"""A TCP proxy before PostgreSQL that cuts the connection at the worst moment: right when a commit is asked for."""

from __future__ import annotations

import asyncio
import contextlib
from enum import Enum
from typing import Final
from urllib.parse import urlsplit

COMMIT: Final = b"COMMIT\x00"


class Cut(Enum):
    """When the connection ends."""

    BEFORE = "the server never sees the COMMIT"
    AFTER = "the server committed, and its answer is lost"


class Proxy:
    """Passes everything on, but the next COMMIT meets `cut`. While `shut`, nobody gets in."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.cut: Cut | None = None
        self.cuts = 0
        self.shut_after_cut = False
        self.shut = False
        self.was_cut = asyncio.Event()

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for writer in tuple(self._open):
            writer.close()
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return self._target._replace(netloc=f"postgres@127.0.0.1:{port}").geturl()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.shut:
            writer.close()
            return
        there, back = await asyncio.open_connection(self._target.hostname, self._target.port)
        ends = {writer, back}
        self._open |= ends
        committing = asyncio.Event()
        passing = [
            asyncio.ensure_future(self._there(reader, back, committing)),
            asyncio.ensure_future(self._back(there, writer, committing)),
        ]
        with contextlib.suppress(ConnectionError):
            await asyncio.wait(passing, return_when=asyncio.FIRST_COMPLETED)
        for end in ends:
            end.close()
        await asyncio.gather(*passing, return_exceptions=True)
        self._open -= ends

    async def _there(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, committing: asyncio.Event
    ) -> None:
        while data := await reader.read(65_536):
            if self.cut is not None and COMMIT in data:
                cut, self.cut = self.cut, None
                if cut is Cut.BEFORE:
                    self._note()
                    return
                committing.set()
            writer.write(data)

    async def _back(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, committing: asyncio.Event
    ) -> None:
        while data := await reader.read(65_536):
            if committing.is_set():
                assert COMMIT in data
                self._note()
                return
            writer.write(data)

    def _note(self) -> None:
        self.cuts += 1
        self.shut = self.shut_after_cut
        self.was_cut.set()

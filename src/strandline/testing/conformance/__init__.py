"""The examination that every backend passes: one file a noun, the same tests for all of them (law 5).

A project that has a backend gives a `backend` fixture that answers a `Backend`, and collects the examinations as
classes of its own:

    from strandline.testing.conformance import turns

    class TestTurns(turns.TurnExamination): ...

The tests need pytest and pytest-asyncio (`asyncio_mode = "auto"`), and a marker `req(number)`. What a backend can't do
by its nature it declares in its `Capabilities`; `report` prints that beside the results, so that nothing is left out in
silence.
"""

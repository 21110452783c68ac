"""Recall: a question in plain words, and the memories that answer it."""

from __future__ import annotations

from typing import Any

import pytest

from strandline.model.memory import AsOf, MemoryDraft, MemoryType
from strandline.model.recall import Recall, RecallQuery
from strandline.testing.clock import START
from strandline.testing.conformance.backend import Backend
from strandline.testing.conformance.samples import DAYS, attribute, fact, learn, say, task


async def ask(backend: Backend, query: str, **filters: Any) -> Recall:
    """The hits of a question."""
    return await backend.verbs.knowledge.recall(backend.at, RecallQuery(query=query, **filters))


async def found(backend: Backend, query: str, **filters: Any) -> list[str]:
    """The texts of the hits, best first."""
    return [hit.memory.text for hit in await ask(backend, query, **filters)]


class RecallExamination:
    """`strandline.engine.verbs.KnowledgeVerbs.recall`."""

    @pytest.mark.req("M8")
    async def test_by_the_words_of_a_text(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact("Alice plays the cello", None), fact("Bob plays chess", None))
        hits = await ask(backend, "Who has a cello?")
        assert [hit.memory.text for hit in hits] == ["Alice plays the cello"]
        assert list(hits[0].channels) == ["keyword"]
        assert (hits[0].channels["keyword"], hits[0].score > 0, hits[0].source) == (1, True, None)

    @pytest.mark.req("M8")
    async def test_by_a_topic(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact("Only on Mondays", "gym/day"), attribute("Berlin", key="hometown"))
        hits = await ask(backend, "When is the gym?")
        assert ([hit.memory.text for hit in hits], list(hits[0].channels)) == (["Only on Mondays"], ["topic"])
        assert await found(backend, "hometown") == ["Alice hometown: Berlin"]

    @pytest.mark.req("M8")
    async def test_the_best_come_first(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(verbs, at, *(fact(f"note {n} about the weather", None) for n in range(20)))
        await learn(verbs, at, fact("a red bicycle with a basket", "bicycle"), fact("red shoes", None))
        hits = await ask(backend, "red bicycle basket")
        assert [hit.memory.text for hit in hits] == ["a red bicycle with a basket", "red shoes"]
        assert set(hits[0].channels) == {"keyword", "topic"}
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)

    async def test_at_most_k(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, *(fact(f"tea number {n}", None) for n in range(12)))
        assert len(await ask(backend, "tea")) == 8
        assert len(await ask(backend, "tea", k=3)) == 3
        assert len(await ask(backend, "tea", k=100)) == 12

    @pytest.mark.req("M8")
    async def test_other_forms_of_a_word(self, backend: Backend) -> None:
        backend.need("stems")
        await learn(backend.verbs, backend.at, fact("Alice was running in the mountains", None))
        assert await found(backend, "runs on a mountain") == ["Alice was running in the mountains"]

    async def test_case_and_accents_do_not_matter(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact("Grüße aus ZÜRICH", None))
        assert await found(backend, "zürich") == ["Grüße aus ZÜRICH"]

    async def test_small_words_find_nothing_of_their_own(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.at, fact("the cat is on the mat", None), fact("Where is the dog", None))
        assert await found(backend, "where is the cat") == ["the cat is on the mat"]
        assert await found(backend, "unicorn") == []
        assert await found(backend, "?!") == []

    @pytest.mark.parametrize(
        "query",
        ['tea"', "tea*", "tea OR 1", "NEAR(tea)", "tea AND", "text:tea", "-tea", "^tea", "(tea", "tea' --", "{tea}"],
    )
    async def test_no_word_is_an_operator(self, backend: Backend, query: str) -> None:
        await learn(backend.verbs, backend.at, fact("tea at five", None), fact("coffee", None))
        assert await found(backend, query) == ["tea at five"]

    @pytest.mark.req("M8")
    async def test_superseded_deleted_and_expired_are_no_hits(self, backend: Backend) -> None:
        verbs, at, time = backend.verbs, backend.at, backend.time
        await learn(verbs, at, fact("lives in Berlin"))
        time.advance(60)
        before = backend.now()
        gone, _ = await learn(verbs, at, fact("a Berlin bear", None), task("pack for Berlin", ttl=30))
        await learn(verbs, at, fact("lives in Paris, not Berlin"))
        await verbs.memories.delete(at, gone.id)
        time.advance(30)
        assert await found(backend, "Berlin") == ["lives in Paris, not Berlin"]
        past = AsOf(valid_at=before - 1, known_at=before - 1)
        assert await found(backend, "Berlin", as_of=past) == ["lives in Berlin"]

    async def test_it_can_be_narrowed(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        await learn(
            verbs,
            at,
            fact("tea in Oslo", None, session="s", valid_from=START - 9 * DAYS),
            fact("tea in Rome", None, scope={"org": "acme"}, valid_from=START - 5 * DAYS),
            MemoryDraft(type=MemoryType.EVENT, text="tea with Bob", valid_from=START - 2 * DAYS),
        )
        cases: list[tuple[dict[str, Any], set[str]]] = [
            ({"types": [MemoryType.EVENT]}, {"tea with Bob"}),
            ({"types": [MemoryType.EVENT, MemoryType.FACT]}, {"tea in Oslo", "tea in Rome", "tea with Bob"}),
            ({"session": "s"}, {"tea in Oslo"}),
            ({"scope": {"org": "acme"}}, {"tea in Rome"}),
            ({"since": START - 5 * DAYS}, {"tea in Rome", "tea with Bob"}),
            ({"until": START - 5 * DAYS}, {"tea in Oslo"}),
            ({"since": START - 9 * DAYS, "until": START - 9 * DAYS + 1}, {"tea in Oslo"}),
        ]
        for filters, wanted in cases:
            assert set(await found(backend, "tea", **filters)) == wanted, filters

    async def test_the_turn_that_it_was_learned_from(self, backend: Backend) -> None:
        verbs, at = backend.verbs, backend.at
        turn = await say(verbs, at, "I drink tea")
        await learn(verbs, at, fact("drinks tea", "drink", source_turn=turn.id))
        hits = await ask(backend, "tea", sources=True)
        assert hits[0].source == turn
        await verbs.sessions.clear(at, "s", turns=True)
        hits = await ask(backend, "tea", sources=True)
        assert (hits[0].source, hits[0].memory.source_turn) == (None, turn.id)

    async def test_nobody_elses_memories(self, backend: Backend) -> None:
        await learn(backend.verbs, backend.other, fact("tea", None))
        assert await found(backend, "tea") == []

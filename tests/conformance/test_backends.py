"""Every examination of `strandline.testing.conformance`, over every backend that `conftest.py` names."""

from strandline.testing.conformance import (
    concurrency,
    diff,
    idempotency,
    lifetime,
    limits,
    memories,
    recall,
    sessions,
    states,
    topics,
    turns,
)


class TestSessions(sessions.SessionExamination): ...


class TestSessionLists(sessions.SessionListExamination): ...


class TestAppends(turns.AppendExamination): ...


class TestCarriedState(turns.CarriedStateExamination): ...


class TestWindows(turns.WindowExamination): ...


class TestLevels(states.LevelExamination): ...


class TestChanges(states.ChangeExamination): ...


class TestRevisions(states.RevisionExamination): ...


class TestStateHistory(states.StateHistoryExamination): ...


class TestStateLimits(states.StateLimitExamination): ...


class TestIngest(memories.IngestExamination): ...


class TestDeletion(memories.DeletionExamination): ...


class TestTasks(memories.TaskExamination): ...


class TestMemoryLists(memories.MemoryListExamination): ...


class TestSupersession(topics.SupersessionExamination): ...


class TestMemoryHistory(topics.MemoryHistoryExamination): ...


class TestRecall(recall.RecallExamination): ...


class TestMemoryDiff(diff.MemoryDiffExamination): ...


class TestStateDiff(diff.StateDiffExamination): ...


class TestSpans(diff.SpanExamination): ...


class TestIdempotency(idempotency.IdempotencyExamination): ...


class TestLimits(limits.LimitExamination): ...


class TestConcurrency(concurrency.ConcurrencyExamination): ...


class TestLifetime(lifetime.LifetimeExamination): ...

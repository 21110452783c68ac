"""Which words of a question are worth looking for."""

from __future__ import annotations

from typing import Final

from strandline.model.limits import MAX_QUERY_TERMS
from strandline.model.token import words_of

STOP_WORDS: Final = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being between both but
    by can could d did do does doing down during each ever few for from further had has have having he her
    here hers him his how i if in into is it its itself just ll m may me might more most much must my myself
    no nor not now of off on once only or other our ours out over own re s same shall she should so some such
    t than that the their theirs them then there these they this those through to too under until up ve very
    was we were what when where which while who whom whose why will with would you your yours
    """.split()
)
"""English words that carry no topic; left out of questions, never out of what is stored."""


def query_words(question: str) -> list[str]:
    """The words to look for, without case and accents, each once, at most 64; all where only stop words are left."""
    words = list(dict.fromkeys(words_of(question)))
    return ([word for word in words if word not in STOP_WORDS] or words)[:MAX_QUERY_TERMS]

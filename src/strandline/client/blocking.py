"""The handles for scripts: what `strandline.client`'s do, without `await`. Safe to share between threads.

Their types for readers and checkers are in `blocking.pyi`, which `tools/blocking_stub.py` writes from the async ones.
"""

from strandline.client import connection, profile, session
from strandline.client.drive import blocking

Connection = blocking(connection.Connection)
Profile = blocking(profile.Profile)
SessionHandle = blocking(session.SessionHandle)

"""The cellar: the only rooms that know SQL. One contract (`engine.ports.Tx`), one set of statements, two dialects."""

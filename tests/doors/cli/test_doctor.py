"""`strandline doctor`: what a store is, and what to do where it is not sound."""

from tests.doors.cli.conftest import EXAMPLE, Shell, turn


def test_a_sound_store(shell: Shell) -> None:
    shell.shown("import", EXAMPLE, "-n", "acme", "-p", "maya")
    found = shell.json("doctor", "-n", "acme")
    assert (found["sound"], found["advice"], found["integrity"]) == (True, [], ["ok"])
    assert found["schema"] == found["schema_known"] >= 1
    assert found["counts"]["turns"] == 430
    assert found["bytes"] > 100_000
    [maya] = [each for each in found["profiles"] if each["profile"] == "maya"]
    assert (maya["sessions"], maya["turns"]) == (34, 430)
    shown = shell.shown("doctor", "-n", "acme")
    assert "maya" in shown
    assert shown.endswith("Sound.\n")


def test_a_damaged_store(shell: Shell) -> None:
    lines = [turn("s", number, "x" * 5_000) for number in range(1, 29)]
    shell.shown("import", shell.file("a.jsonl", lines))
    path = shell.folder / "strandline.db"
    octets = bytearray(path.read_bytes())
    middle = len(octets) // 2 // 4_096 * 4_096
    octets[middle : middle + 40_960] = b"\xff" * 40_960
    path.write_bytes(octets)
    result = shell.run("doctor")
    assert result.exit_code == 1
    assert "restore a copy" in result.stdout + result.stderr

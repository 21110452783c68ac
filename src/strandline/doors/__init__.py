"""The front doors: parse, call the verbs, render. No rule and no SQL; no door knows another, and nobody imports one."""

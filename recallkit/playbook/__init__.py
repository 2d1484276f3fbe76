"""The playbook: definitions and events stored, views kept as events arrive, runs answered."""

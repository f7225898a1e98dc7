"""The stages that every client of a run skipped, which a table of passes would hide."""

from collections.abc import Sequence

from polybake.verification.verdict import Stage, Verdict, executed


def unverified(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """Return a sentence with the stages that every client skipped, if any stage was executed."""
    if not any(map(executed, verdicts)):
        return ()  # the summary says so
    stages = {verdict.stage for verdict in verdicts}
    stages -= {verdict.stage for verdict in verdicts if not verdict.status.skipped}
    skipped = ", ".join(stage for stage in Stage if stage in stages)
    return (f"verified of no client, since all skipped it: {skipped}",) if skipped else ()

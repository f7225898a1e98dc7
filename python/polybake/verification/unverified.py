"""What no client of a run was asked, which a table of passes hides."""

from collections.abc import Sequence

from polybake.verification.verdict import Stage, Verdict, executed


def unverified(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """A sentence that names each stage that every client skipped, where any was executed."""
    if not any(map(executed, verdicts)):
        return ()  # the summary says so
    stages = {verdict.stage for verdict in verdicts}
    stages -= {verdict.stage for verdict in verdicts if not verdict.status.skipped}
    skipped = ", ".join(stage for stage in Stage if stage in stages)
    return (f"verified of no client, since all skipped it: {skipped}",) if skipped else ()

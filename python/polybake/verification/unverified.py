"""What no client of a run was asked, which a table of passes hides."""

from collections.abc import Sequence

from polybake.verification.verdict import ALL_STAGES, Stage, Verdict


def unverified(verdicts: Sequence[Verdict]) -> tuple[str, ...]:
    """One sentence for each stage that every client skipped, where any stage was executed."""
    stages = {verdict.stage for verdict in verdicts}
    executed = {verdict.stage for verdict in verdicts if not verdict.status.skipped}
    if not executed & {*ALL_STAGES}:
        return ()  # the summary says so
    skipped = [stage for stage in Stage if stage in stages - executed]
    return tuple(f"stage {stage} was verified of no client: all skipped it" for stage in skipped)

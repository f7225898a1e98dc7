"""A matrix as JSON, for programs."""

import json
from dataclasses import asdict
from typing import Any

from polybake.verification.matrix.matrix_report import MatrixReport, Row

FORMAT = 1


def matrix_json(report: MatrixReport) -> str:
    """``format``, ``exit_code``, the machine, and rows of cells with status and difference."""
    found = {
        "format": FORMAT,
        "exit_code": report.exit_code(),
        "machine": report.machine,
        "models": report.models,
        "rows": [_row(row) for row in report.rows],
        "missing": report.missing,
    }
    return json.dumps(found, ensure_ascii=True, indent=2, allow_nan=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    return {
        **asdict(row.combination),
        "versions": row.versions.model_dump() if row.versions else None,
        "seconds": row.seconds,
        "cells": [
            {
                "model": cell.model,
                "status": cell.status,
                "message": cell.telling.message,
                "difference": cell.difference,
                "executed": cell.executed,
            }
            for cell in row.cells
        ],
    }

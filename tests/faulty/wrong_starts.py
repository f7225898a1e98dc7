# ruff: noqa: ARG002 - a fault keeps the signature of what it takes the place of
"""Harnesses that open another model, on another device, or pass for another client."""

from __future__ import annotations

from faulty.reference import Reference


class WrongFingerprint(Reference):
    """Another file was opened."""

    def start(self, request):
        return super().start(request) | {"fingerprint": "0" * 64}


class WrongName(Reference):
    """A file of another name was opened."""

    def start(self, request):
        return super().start(request) | {"name": "other-model"}


class WrongLanguage(Reference):
    """The harness was copied from another client."""

    def __init__(self, answers, language):
        super().__init__(answers, language + "-copy")


class WrongProtocol(Reference):
    """The harness speaks a later protocol."""

    def start(self, request):
        return super().start(request) | {"protocol": 2}


class FallsBack(Reference):
    """The CPU runs the model, whatever was asked for."""

    def provider(self, device):
        return super().provider(device) | {"active": "CPUExecutionProvider"}


class ClaimsCuda(Reference):
    """CUDA is claimed to run the model, whatever was asked for."""

    def provider(self, device):
        return super().provider(device) | {"active": "CUDAExecutionProvider"}


class NoDevice(Reference):
    """There is no such device."""

    def answer(self, request):
        return {"errored": True, "kind": "device", "message": "no CUDA here; install a driver"}

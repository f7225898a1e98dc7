"""A generated client that embeds in a process of its own, behind its harness."""

from collections.abc import Sequence
from dataclasses import replace

from polybake.baking.golden.edges import Edges
from polybake.base.modelfile.fixture import Case, Text, encode_vectors
from polybake.base.modelfile.manifest import UNQUANTIZED, Output
from polybake.errors import InputError
from polybake.runtime.embedder import Embedder
from polybake.verification.harness.handshake import Subject, check_started, results_of
from polybake.verification.harness.harness import Harness
from polybake.verification.harness.harness_file import Client
from polybake.verification.harness.process import check_programs, unprepared
from polybake.verification.harness.protocol import Embed, Errored, Start
from polybake.verification.judging.golden import GoldenCase
from polybake.verification.judging.stages import judge_case
from polybake.verification.verdict import HarnessError, Stage, Status

#: The seconds that an answer may take; a whole workload through a large model takes less.
_PATIENCE = 600.0


class RunningClient:
    """A client that has opened a model."""

    def __init__(self, client: Client, embedder: Embedder) -> None:
        manifest = embedder.manifest
        path, device = embedder.path.absolute(), embedder.device
        client = client.on(device)
        check_programs(client)
        self._tolerance = embedder.head.fixture.tolerances[device]
        self._harness = Harness(client)
        try:
            answer = self._harness.ask(Start(model=str(path), device=device), _PATIENCE)
            if isinstance(answer, Errored) and answer.kind == "wrong_model":
                raise InputError(
                    f"{client.folder}: {answer.message}; give the clients of {embedder.path}, "
                    "made with: polybake generate"
                )
            subject = Subject(path, manifest.name, manifest.fingerprint)
            check_started(answer, client, device, subject, ())
        except HarnessError as error:
            self._harness.kill()
            if error.status is Status.CRASH and client.prepare:
                raise unprepared(client, error) from error
            raise
        except InputError:
            self._harness.kill()
            raise

    def embed(self, texts: Sequence[Text]) -> object:
        """Return the client's answer, not decoded."""
        return results_of(self._harness.ask(Embed(texts=tuple(texts), prompt=None), _PATIENCE))

    def check(self, golden: GoldenCase) -> None:
        """Embed the texts of a case, and compare the vectors with the model's."""
        results = self.embed(golden.case.texts)
        outcome = judge_case(Stage.EMBED, golden, [results], self._tolerance)
        if outcome.status is not Status.PASS:
            raise HarnessError(outcome.status, outcome.message)

    def close(self) -> None:
        """End the process, whether it still answers or not."""
        self._harness.kill()


def expected(embedder: Embedder, name: str, texts: Sequence[Text]) -> GoldenCase:
    """Embed texts in one call; also return how far a quantized model's integers may differ."""
    runner = embedder.runner
    if runner.contract.further_outputs:
        raise InputError(
            f"{embedder.path}: gives a text several outputs, and a bench times one; "
            "time a client of it by itself: polybake generate"
        )
    rows, output = runner.ids(texts), runner.contract.output
    vectors, slack = runner.embed(rows), None
    edges = Edges.of(embedder.path, output, embedder.head.fixture.tolerances)
    if edges is not None:
        floats = Output(name=UNQUANTIZED, dimension=output.dimensions)
        contract = runner.contract.model_copy(update={"output": floats})
        slack = edges.slack(replace(runner, contract=contract).embed(rows))
    case = Case(
        id=name,
        why="what is timed is right",
        texts=tuple(texts),
        input_ids=tuple(map(tuple, rows)),
        embeddings=encode_vectors(vectors, slack),
    )
    return GoldenCase(case, vectors, slack)

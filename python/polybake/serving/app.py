"""The service: its routes, its start and its end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response

from polybake import __version__
from polybake.serving import cohere_api, inference_api, openai_api
from polybake.serving.gate import Gate, refused
from polybake.serving.limits import Limits
from polybake.serving.metrics import Metrics
from polybake.serving.models import Models
from polybake.serving.refusal import Refusal


def create_app(models: Models, *, limits: Limits, keys: Sequence[str] = ()) -> FastAPI:
    """Create a service for checked models."""
    metrics = Metrics(models)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for model in models:
            model.start(limits, metrics.batches(model.name))
        yield
        for model in models:
            await model.close()

    # The pages that show the schema load scripts from elsewhere, so only the schema is served.
    app = FastAPI(
        title="polybake", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None
    )
    app.state.models = models
    for router in (openai_api.router, inference_api.router, cohere_api.router):
        app.include_router(router)

    @app.get("/health/live")
    async def live() -> Response:
        """Whether the process answers."""
        return PlainTextResponse("alive")

    @app.get("/health/ready")
    @app.get("/health")
    async def ready() -> Response:
        """Whether it takes requests."""
        return PlainTextResponse(*(("ready", 200) if models.ready else ("not ready", 503)))

    @app.get("/metrics")
    async def numbers() -> Response:
        """Return the metrics as Prometheus reads them."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.exception_handler(Refusal)
    async def refuse(request: Request, why: Refusal) -> JSONResponse:
        return refused(request.url.path, why)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return refused(request.url.path, Refusal("validation", _readable(error)))

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        path, method = request.url.path, request.method
        if error.status_code == 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            message = f"{method} is not for this path; send {allowed}"
            why = Refusal("validation", message, status=405)
        else:
            message = "no such path; GET /openapi.json lists all"
            why = Refusal("not_found", message, status=error.status_code)
        answer = refused(path, why)
        answer.headers.update(error.headers or {})
        return answer

    paths = app.openapi()["paths"]
    app.add_middleware(
        Gate,
        keys=keys,
        limits=limits,
        paths=["/", *paths],
        bodies=["/", *(path for path, methods in paths.items() if "post" in methods)],
        metrics=metrics,
    )
    return app


def _readable(error: RequestValidationError) -> str:
    """The first thing that is wrong, such as ``input: Field required``."""
    first = error.errors()[0]
    path = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    message = first["msg"].removeprefix("Value error, ")
    return f"{path}: {message}"

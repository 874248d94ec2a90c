# The service with its models and the sample corpus inside: it starts with no network.
#
#   docker build --platform linux/amd64 -t treeline .
#   docker run -p 8000:8000 treeline
#   docker run -p 8000:8000 -v treeline-index:/app/var/index treeline    # keeps corpora of your own
#
# With Chroma, PostgreSQL or vLLM beside it: compose.yaml. With a model and documents inside: deploy/submission/.
#
# Build arguments:
#   KEEP_TORCH=true       keep PyTorch for RAG_LLM__PROVIDER=huggingface or a GPU. By default it and NNCF only convert
#                         the embedding model, and stay behind in the build stage.
#   TORCH_INDEX_URL=...   a PyTorch wheel index, for its CPU build (a smaller download) or another CUDA build.

FROM python:3.11-slim AS build
WORKDIR /app
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

# What changes least comes first: PyTorch is installed again only when its version changes.
COPY constraints.txt ./
ARG TORCH_INDEX_URL=
RUN pip install ${TORCH_INDEX_URL:+--extra-index-url "$TORCH_INDEX_URL"} torch -c constraints.txt
# --force-reinstall: what PyTorch brought along is taken by its hash, too.
COPY requirements.lock ./
RUN pip install --no-deps --force-reinstall --require-hashes -r requirements.lock

# Converts the embedding models and indexes the sample corpus, all into /app/var. In int8, which makes the exact models on
# the way: the image has what either kind of CPU runs fast (RAG_EMBED__PRECISION=auto). A corpus that is made again and
# dropped converts the multilingual one, which documents in other languages than English will want.
COPY . .
RUN export RAG_EMBED__PRECISION=int8 \
    && python -m ingestion data/corpus \
    && RAG_EMBED__MODEL=multilingual python -m ingestion data/corpus/overview.md --corpus converted \
    && python -m ingestion corpora drop converted

ARG KEEP_TORCH=false
RUN if [ "$KEEP_TORCH" != true ]; then \
        pip freeze | sed -n -E 's/^((torch|nncf|sympy|mpmath|triton|nvidia-[^=]*|cuda-[^=]*)==.*)/\1/p' > /tmp/torch.txt \
        && pip uninstall --yes --quiet -r /tmp/torch.txt; \
    fi
# What is left must answer: a service that secretly needs PyTorch fails here and not on a stranger's machine.
RUN python -m query_engine "What does a heat pump do?"

FROM python:3.11-slim
# /data: for RAG_INDEX__DIR on a volume that starts empty, as in compose.yaml.
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin treeline && install --directory --owner treeline /data
COPY --from=build /opt/venv /opt/venv
WORKDIR /app
COPY . .
# The user may not write here: each start would compile all of it again, a second.
RUN python -m compileall -q .
COPY --from=build --chown=treeline:treeline /app/var var
USER treeline
# Beyond loopback without keys: anyone who reaches the published port may ask.
ENV PATH=/opt/venv/bin:$PATH PYTHONUNBUFFERED=1 \
    RAG_SERVE__HOST=0.0.0.0 RAG_SERVE__PORT=8000 RAG_SERVE__OPEN=true
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as r; r.urlopen(f\"http://127.0.0.1:{os.environ['RAG_SERVE__PORT']}/health\", timeout=4)"]
# As many processes as RAG_SERVE__WORKERS says. A platform's `gunicorn main:app -w 4 -k uvicorn.workers.UvicornWorker` works, too.
CMD ["python", "main.py"]

# linker in a container, without CUDA. The folder /data is where it reads and writes.
#   docker build -t linker .
#   docker run --rm --init -p 127.0.0.1:8123:8123 -v "$PWD:/data" linker      the page of annotation projects
#   docker run --rm -v "$PWD:/data" linker rank --article story.html --posts posts.csv
FROM python:3.12-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12-slim-bookworm
# Versions that the tests use; on x86-64 the builds of torch without CUDA.
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    --mount=type=bind,source=constraints.txt,target=/constraints.txt \
    pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu \
    --constraint /constraints.txt "$(echo /wheels/article_linker-*.whl)[web,corpus]" \
    && useradd --create-home --uid 1000 linker \
    && install --directory --owner linker /data
USER 1000
WORKDIR /data
VOLUME /data
EXPOSE 8123
# The page itself is open; what it shows needs the token that `linker serve` prints, or that of LINKER_TOKEN.
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8123/', timeout=4)"]
ENTRYPOINT ["linker"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8123", "--projects", "/data/linker-projects"]

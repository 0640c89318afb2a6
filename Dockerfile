# One image for every process: `rag4c serve web | worker | system | beat`, and `rag4c init-db` once before them.
FROM python:3.11-slim-bookworm
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 RAG4C_HOME=/data
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY rag4c ./rag4c
COPY tenants ./tenants
COPY approvals ./approvals
COPY documents ./documents
COPY retrieval ./retrieval
COPY verification ./verification
COPY compliance ./compliance
COPY evaluation ./evaluation
COPY templates ./templates
RUN pip install --quiet -c constraints.txt -e . \
 && useradd --create-home --uid 10001 rag4c \
 && mkdir /data && chown rag4c /data
USER rag4c
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["rag4c"]
CMD ["serve", "web"]

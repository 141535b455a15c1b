# The relay as an image: the npm package and the Node version that it is tested with.
#
#   docker build -t cleancast .
#   docker run --init -v cleancast:/data -p 127.0.0.1:8080:8080 -e CLEANCAST_ALLOW_HTTP_FROM=private cleancast
#
# That is for trying it out on your own computer (docs/how-to/install.md). With HTTPS: ops/compose/compose.yaml.
#
# For both architectures, from a machine of either: docker buildx build --platform linux/amd64,linux/arm64 .
#
# The tests of this project have no Docker. test/packaging.test.ts checks this file against the project, and installs and runs
# the same package.

# Without emulation: the package is the same for every architecture.
FROM --platform=$BUILDPLATFORM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS builder

FROM builder AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
# Builds the package as npm would publish it, so that both installations are identical.
RUN npm run build \
 && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir -p /app \
 && tar -xzf /tmp/cleancast-*.tgz -C /app --strip-components=1

# The Node of the image's architecture, in the version and with the checksum of the lockfile. Without .npmrc, which includes the
# packages for development.
FROM builder AS runtime
ARG TARGETARCH
WORKDIR /runtime
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --omit=dev --os=linux --cpu="$(echo "$TARGETARCH" | sed s/amd64/x64/)" \
 && mv node_modules/node-linux-* /node

FROM debian:13.7-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f
LABEL org.opencontainers.image.title="Cleancast" \
      org.opencontainers.image.description="The open-source conversion relay" \
      org.opencontainers.image.licenses="MIT"
# A fixed user id, so that a host folder can be assigned to it: chown 10001:10001
RUN groupadd --gid 10001 cleancast \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin cleancast \
 && install -d -o cleancast -g cleancast -m 0700 /data
COPY --from=runtime /node/bin/node /usr/local/bin/node
COPY --from=runtime /node/LICENSE /usr/local/share/doc/node/LICENSE
COPY --from=build /app /app
RUN ln -s /app/bin/cleancast.mjs /usr/local/bin/cleancast
ENV CLEANCAST_DATA=/data
# Settings can also be in /data/.env.
WORKDIR /data
VOLUME /data
EXPOSE 8080
# As a number, so that Kubernetes can see that it is not root.
USER 10001:10001
# Checks liveness, not readiness: a database outage must not replace the container.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/ops/docker/answers.mjs", "/healthz"]
ENTRYPOINT ["cleancast"]
CMD ["serve"]

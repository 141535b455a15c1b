# The relay as an image: the npm package and the Node version that it is tested with.
#
#   docker build -t cleancast .
#   docker run --init -p 8080:8080 -v cleancast:/data cleancast

FROM node:24-trixie-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts
COPY . .
# Builds the package as npm would publish it, so that both installations are identical.
RUN npm run build \
 && npm pack --ignore-scripts --pack-destination /tmp \
 && mkdir -p /app /node \
 && tar -xzf /tmp/cleancast-*.tgz -C /app --strip-components=1 \
 && cp node_modules/node-linux-*/bin/node /node/node \
 && cp node_modules/node-linux-*/LICENSE /node/LICENSE

FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Cleancast" \
      org.opencontainers.image.description="The open-source conversion relay" \
      org.opencontainers.image.licenses="MIT"
# A fixed user id, so that a host folder can be assigned to it: chown 10001:10001
RUN groupadd --gid 10001 cleancast \
 && useradd --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin cleancast \
 && install -d -o cleancast -g cleancast -m 0700 /data
COPY --from=build /node/node /usr/local/bin/node
COPY --from=build /node/LICENSE /usr/local/share/doc/node/LICENSE
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

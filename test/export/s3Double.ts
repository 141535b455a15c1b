// A strict double of an S3-compatible store. AWS's own signer judges every request: it signs the same request again, and the
// signatures must be equal.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterFile, takeAll } from "../support/afterFile.ts";

type Judge = {
  sign(
    request: object,
    options: { signingDate: Date; signableHeaders: Set<string> },
  ): Promise<{ headers: Record<string, string> }>;
};

type S3Double = { url: string; objects: Map<string, Buffer>; refused: string[] };

const open = new Set<{ close(): void }>();
afterFile(async () => {
  for (const server of takeAll(open)) server.close();
});

export async function startS3(keyId: string, secret: string, region: string): Promise<S3Double> {
  const { SignatureV4 } = (await import(
    new URL("node_modules/@smithy/signature-v4/dist-cjs/index.js", import.meta.url).href
  )) as {
    SignatureV4: new (options: object) => Judge;
  };
  const { Sha256 } = (await import(new URL("node_modules/@aws-crypto/sha256-js/build/main/index.js", import.meta.url).href)) as {
    Sha256: unknown;
  };
  const judge = new SignatureV4({
    credentials: { accessKeyId: keyId, secretAccessKey: secret },
    region,
    service: "s3",
    sha256: Sha256,
    // Stores sign the path as it is in the request.
    uriEscapePath: false,
    applyChecksum: true,
  });
  const objects = new Map<string, Buffer>();
  const refused: string[] = [];

  async function check(request: IncomingMessage, body: Buffer): Promise<string | null> {
    const { authorization = "", "x-amz-date": date = "", host = "" } = request.headers as Record<string, string>;
    const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(";") ?? [];
    if (!names.includes("host") || !names.includes("x-amz-date") || !names.includes("x-amz-content-sha256"))
      return "AccessDenied";
    const time = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z");
    const signingDate = new Date(time);
    if (!(Math.abs(Date.now() - signingDate.getTime()) < 15 * 60_000)) return "RequestTimeTooSkewed";
    const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name] ?? "")]));
    const [hostname, port] = host.split(":");
    const again = await judge.sign(
      { method: request.method, protocol: "http:", hostname, port: Number(port), path: request.url, query: {}, headers, body },
      { signingDate, signableHeaders: new Set(names) },
    );
    return again.headers["authorization"] === authorization ? null : "SignatureDoesNotMatch";
  }

  async function answer(request: IncomingMessage, response: ServerResponse, body: Buffer): Promise<void> {
    const fault = await check(request, body);
    const fail = (status: number, code: string) => {
      refused.push(code);
      response
        .writeHead(status)
        .end(`<Error><Code>${code}</Code><Message>${String(request.headers.authorization)}</Message></Error>`);
    };
    if (fault) return fail(403, fault);
    const key = decodeURIComponent(request.url ?? "");
    const known = objects.get(key);
    if (request.method === "GET") {
      if (!known) return fail(404, "NoSuchKey");
      const last = /^bytes=0-(\d+)$/.exec(request.headers.range ?? "")?.[1];
      return void (last === undefined
        ? response.writeHead(200).end(known)
        : response.writeHead(206).end(known.subarray(0, Number(last) + 1)));
    }
    if (request.method !== "PUT") return fail(405, "MethodNotAllowed");
    objects.set(key, body);
    response.writeHead(200).end();
  }

  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => void answer(request, response, Buffer.concat(parts)));
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  open.add({
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, objects, refused };
}

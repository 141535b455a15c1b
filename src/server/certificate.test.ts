// A real HTTPS server, real clients, and files that change under it.

import { once } from "node:events";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, get, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, type TLSSocket } from "node:tls";
import { afterEach, beforeEach, expect, test } from "vitest";
import { newAuthority, type TestCertificate } from "../../test/support/servers/certificates.ts";
import { freshFolder } from "../../test/support/databases.ts";
import { createCertificate, type Certificate } from "./certificate.ts";
import { ConfigFaults } from "../installation/config.ts";
import { dayMs as day } from "../kernel/time.ts";

const authority = newAuthority();
const names = ["shop.example.test"];
/** Certificates expire at whole seconds. */
const inDays = (days: number) => Math.floor((Date.now() + days * day) / 1000) * 1000;

let folder: string;
let files: { certFile: string; keyFile: string };
let server: Server;
let certificate: Certificate;
let changes: number[];
let faults: string[];

function write(made: TestCertificate): void {
  writeFileSync(files.certFile, made.cert);
  writeFileSync(files.keyFile, made.key);
}

const reload = () =>
  certificate.reload(server, {
    onChange: (expiresAt) => changes.push(expiresAt),
    onFault: (message) => faults.push(message),
  });

/** The expiry of the certificate that a new client gets. */
async function readServedExpiry(): Promise<number> {
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: "127.0.0.1", ca: authority.cert, servername: "shop.example.test" });
  await once(socket, "secureConnect");
  const end = Date.parse(socket.getPeerCertificate().valid_to);
  socket.destroy();
  return end;
}

beforeEach(async () => {
  folder = freshFolder();
  mkdirSync(folder, { recursive: true });
  files = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  write(authority.issue(names, inDays(10)));
  certificate = createCertificate({ tls: files }) ?? expect.unreachable();
  server = createServer(certificate.pair, (_request, response) => response.end("ok"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  changes = [];
  faults = [];
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

test("a changed certificate is used for new connections, while an open connection continues", async () => {
  const { port } = server.address() as AddressInfo;
  const open: TLSSocket = connect({
    port,
    host: "127.0.0.1",
    ca: authority.cert,
    servername: "shop.example.test",
  });
  await once(open, "secureConnect");
  const end = inDays(80);
  write(authority.issue(names, end));
  reload();
  expect(changes).toEqual([end]);
  expect(certificate.expiresAt()).toBe(end);
  expect(await readServedExpiry()).toBe(end);

  open.write("GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n");
  const [answer] = (await once(open, "data")) as [Buffer];
  expect(answer.toString()).toContain("200 OK");
  open.destroy();
});

test("neither unchanged files nor rewritten files with the same content are reported", async () => {
  reload();
  const { cert, key } = certificate.pair;
  writeFileSync(files.certFile, cert);
  writeFileSync(files.keyFile, key);
  reload();
  expect([changes, faults]).toEqual([[], []]);
});

test("unusable certificate files are reported once and keep the old certificate until both files match", async () => {
  const before = certificate.expiresAt();
  const next = authority.issue(names, inDays(80));
  writeFileSync(files.certFile, next.cert);
  reload();
  reload();
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain("stays in use");
  expect(await readServedExpiry()).toBe(before);

  writeFileSync(files.certFile, next.cert.slice(0, 300));
  reload();
  rmSync(files.keyFile);
  reload();
  reload();
  expect(faults).toHaveLength(3);
  expect(await readServedExpiry()).toBe(before);

  write(next);
  reload();
  expect(changes).toEqual([certificate.expiresAt()]);
  expect(await readServedExpiry()).toBe(certificate.expiresAt());
  expect(certificate.expiresAt()).toBeGreaterThan(before);
});

test("a certificate is reloaded when the link to its folder is swapped, as certbot does", async () => {
  const live = join(folder, "live");
  const archive = (n: number, made: TestCertificate) => {
    const place = join(folder, `archive${n}`);
    mkdirSync(place);
    writeFileSync(join(place, "cert.pem"), made.cert);
    writeFileSync(join(place, "key.pem"), made.key);
    return place;
  };
  symlinkSync(archive(1, authority.issue(names, inDays(10))), live);
  const linked = { certFile: join(live, "cert.pem"), keyFile: join(live, "key.pem") };
  certificate = createCertificate({ tls: linked }) ?? expect.unreachable();
  const end = inDays(90);
  symlinkSync(archive(2, authority.issue(names, end)), join(folder, "next"));
  renameSync(join(folder, "next"), live);
  reload();
  expect(await readServedExpiry()).toBe(end);
});

test("the relay does not start with a certificate and a key that do not match", () => {
  writeFileSync(files.keyFile, authority.issue(names).key);
  expect(() => createCertificate({ tls: files })).toThrow(ConfigFaults);
  expect(createCertificate({ tls: null })).toBeNull();
});

test("requests in flight while the certificate changes get their answers", async () => {
  const { port } = server.address() as AddressInfo;
  const ask = () =>
    new Promise<number>((resolve, reject) => {
      const options = { port, host: "127.0.0.1", ca: authority.cert, servername: "shop.example.test" };
      get({ ...options, agent: false }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0));
      }).on("error", reject);
    });
  const first = Array.from({ length: 20 }, ask);
  write(authority.issue(names, inDays(50)));
  reload();
  const statuses = await Promise.all([...first, ...Array.from({ length: 20 }, ask)]);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

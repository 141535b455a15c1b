// A relay that serves HTTPS itself takes a renewed certificate without a restart.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { newAuthority, type TestCertificate } from "../support/servers/certificates.ts";
import { freshFolder } from "../support/databases.ts";
import { call, eventually, newInstallation } from "../support/relay.ts";

test("a renewed certificate is used once its key is there too, and the old pair until then", async () => {
  const authority = newAuthority();
  const folder = freshFolder();
  const files = { TLS_CERT_FILE: join(folder, "cert.pem"), TLS_KEY_FILE: join(folder, "key.pem") };
  const write = ({ cert, key }: TestCertificate) => {
    writeFileSync(files.TLS_CERT_FILE, cert);
    writeFileSync(files.TLS_KEY_FILE, key);
  };
  const issue = () => authority.issue(["localhost", "127.0.0.1"]);
  write(issue());
  const relay = await (await newInstallation("sqlite", files)).start();
  const ca = Buffer.from(authority.cert);
  const serial = async () => {
    const socket = connect({ port: Number(new URL(relay.url).port), host: "127.0.0.1", ca });
    await once(socket, "secureConnect");
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const first = await serial();

  // The key comes a little later than the certificate.
  const renewed = issue();
  writeFileSync(files.TLS_CERT_FILE, renewed.cert);
  await eventually("the fault is logged", () => relay.output().includes("stays in use"));
  expect(await serial()).toBe(first);
  writeFileSync(files.TLS_KEY_FILE, renewed.key);
  await eventually("the new certificate is used", async () => (await serial()) !== first);
  await eventually("the change is logged", () => relay.output().includes("a new certificate is in use"));
  expect((await call(relay.url, { method: "GET", path: "/healthz", ca })).status).toBe(200);
});

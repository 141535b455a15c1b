// The certificate for HTTPS without a proxy. Its files are checked every two seconds, and a changed pair is used for new
// connections; open ones continue. Programs that renew certificates swap links or write one file after the other: until
// certificate and key match, the old pair stays in use.

import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Server } from "node:http";
import { Server as TlsServer, createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { ConfigFaults, type Config } from "../installation/config.ts";

export type CertificatePair = { cert: Buffer; key: Buffer };
type Files = NonNullable<Config["tls"]>;

export type Certificate = {
  /** The pair that the server starts with. */
  pair: CertificatePair;
  /** The expiry of the certificate in use, in milliseconds. */
  expiresAt(): number;
  /** Checks the files once, and gives the server a changed pair. */
  reload(server: Server, hooks: ReloadHooks): void;
};

type ReloadHooks = {
  onChange: (expiresAt: number) => void;
  /** Called once for each state of the files that cannot be used. */
  onFault: (message: string) => void;
};

const checkEveryMs = 2000;

const mismatch =
  "TLS_CERT_FILE and TLS_KEY_FILE do not hold a certificate and its key; both must be PEM files that belong together.";

/** Null where HTTPS is not served directly. */
export function createCertificate({ tls }: Pick<Config, "tls">): Certificate | null {
  if (!tls) return null;
  const files = tls;
  // The fingerprint is taken before the files are read, so that the next check sees a change in between.
  let known = fingerprintOf(files);
  const first = readPair(files);
  if (!first) throw new ConfigFaults([mismatch]);
  let pair = first;
  let reported: string | null = null;

  function reload(server: Server, { onChange, onFault }: ReloadHooks): void {
    const fingerprint = fingerprintOf(files);
    if (fingerprint === known) return;
    const next = readPair(files);
    if (!next) {
      if (reported !== fingerprint) onFault(`${mismatch} The previous certificate stays in use.`);
      reported = fingerprint;
      return;
    }
    known = fingerprint;
    reported = null;
    const isSame = pair.cert.equals(next.cert) && pair.key.equals(next.key);
    pair = next;
    if (isSame) return;
    if (server instanceof TlsServer) server.setSecureContext(next);
    onChange(expiryOf(next));
  }

  return { pair: first, expiresAt: () => expiryOf(pair), reload };
}

/** Keeps the server's certificate up to date with the files; returns a function that stops this. */
export function watchCertificate(
  server: Server,
  certificate: Certificate | null,
  log: Pick<Logger, "info" | "error">,
): () => void {
  const hooks: ReloadHooks = {
    onChange: (expiresAt) => log.info({ endsAt: new Date(expiresAt).toISOString() }, "a new certificate is in use"),
    onFault: (message) => log.error(message),
  };
  const timer = setInterval(() => certificate?.reload(server, hooks), checkEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

const expiryOf = ({ cert }: CertificatePair) => new X509Certificate(cert).validToDate.getTime();

/** Identifies the files behind links and their last change; empty when one does not exist. */
function fingerprintOf({ certFile, keyFile }: Files): string {
  try {
    return [certFile, keyFile]
      .map((file) => statSync(file, { bigint: true }))
      .map(({ dev, ino, size, mtimeNs }) => `${dev} ${ino} ${size} ${mtimeNs}`)
      .join(" ");
  } catch {
    return "";
  }
}

function readPair({ certFile, keyFile }: Files): CertificatePair | null {
  try {
    const pair = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
    // Throws when the key is not the certificate's.
    createSecureContext(pair);
    return expiryOf(pair) > 0 ? pair : null;
  } catch {
    return null;
  }
}

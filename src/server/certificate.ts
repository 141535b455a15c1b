// The certificate of HTTPS that is served directly. Its files are looked at every two seconds, and a pair that has changed
// is used for new connections; those that are open go on. Programs that renew certificates swap links or write one file
// after the other: until both belong together, the old pair stays.

import { X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import type { Server } from "node:http";
import { Server as TlsServer, createSecureContext } from "node:tls";
import type { Logger } from "pino";
import { ConfigFaults, type Config } from "../installation/config.ts";

export type CertificatePair = { cert: Buffer; key: Buffer };
type Files = NonNullable<Config["tls"]>;

export type Certificate = {
  /** What the server starts with. */
  pair: CertificatePair;
  /** When the certificate that is in use ends; milliseconds. */
  expiresAt(): number;
  /** One look at the files; the server gets what is new in them. */
  reload(server: Server, said: Said): void;
};

type Said = {
  onChange: (endsAt: number) => void;
  /** Once for each state of the files that cannot be used. */
  onFault: (sentence: string) => void;
};

const everyMs = 2000;

const mismatch =
  "TLS_CERT_FILE and TLS_KEY_FILE do not hold a certificate and its key; both must be PEM files that belong together.";

/** Null where HTTPS is not served directly. */
export function openCertificate({ tls }: Pick<Config, "tls">): Certificate | null {
  if (!tls) return null;
  // Before reading: what changes in between is seen at the next look.
  let known = stateOf(tls);
  let pair = readPair(tls);
  if (!pair) throw new ConfigFaults([mismatch]);
  let refused: string | null = null;

  function look(server: Server, { onChange, onFault }: Said): void {
    const state = stateOf(tls as Files);
    if (state === known) return;
    const next = readPair(tls as Files);
    if (!next) {
      if (refused !== state) onFault(`${mismatch} The certificate that was read before stays in use.`);
      refused = state;
      return;
    }
    known = state;
    refused = null;
    const isSame = pair?.cert.equals(next.cert) && pair.key.equals(next.key);
    pair = next;
    if (isSame) return;
    if (server instanceof TlsServer) server.setSecureContext(next);
    onChange(endOf(next));
  }

  return {
    pair,
    expiresAt: () => endOf(pair as CertificatePair),
    reload: look,
  };
}

/** Keeps the server's certificate as the files are; returns how to stop. */
export function watchCertificate(
  server: Server,
  certificate: Certificate | null,
  log: Pick<Logger, "info" | "error">,
): () => void {
  const said: Said = {
    onChange: (endsAt) => log.info({ endsAt: new Date(endsAt).toISOString() }, "a new certificate is in use"),
    onFault: (sentence) => log.error(sentence),
  };
  const timer = setInterval(() => certificate?.reload(server, said), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

const endOf = ({ cert }: CertificatePair) => new X509Certificate(cert).validToDate.getTime();

/** Which files these are and when they were written, through links; empty when one is not there. */
function stateOf({ certFile, keyFile }: Files): string {
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
    // Refuses a key that is not the certificate's.
    createSecureContext(pair);
    return new X509Certificate(pair.cert).validToDate.getTime() > 0 ? pair : null;
  } catch {
    return null;
  }
}

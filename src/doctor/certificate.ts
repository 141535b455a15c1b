// The certificate that the relay serves itself.

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { dayMs, error, ok, warning, type Finding, type DoctorContext } from "./finding.ts";

const soonMs = 14 * dayMs;

export function checkCertificate({ config, now }: DoctorContext): Finding[] {
  if (!config.tls) return [];
  const { certFile } = config.tls;
  let endsAt: number;
  try {
    endsAt = Date.parse(new X509Certificate(readFileSync(certFile)).validTo);
  } catch {
    return [error(`${certFile} is no certificate`, "TLS_CERT_FILE must be a PEM file, the chain included.")];
  }
  const days = Math.floor((endsAt - now) / dayMs);
  if (days < 0) return [error(`the certificate in ${certFile} has expired`, "Renew it.")];
  if (endsAt - now < soonMs)
    return [
      warning(
        `the certificate in ${certFile} ends in ${days} days`,
        "See why it was not renewed: a month is usual.",
      ),
    ];
  return [ok(`the certificate in ${certFile} holds for ${days} days more`)];
}

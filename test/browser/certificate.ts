// The certificate of the test sites: self-signed, for tests only, and trusted by the test browser alone.

import { readFileSync } from "node:fs";

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8");

export const certificate = { cert: fixture("tls-cert.pem"), key: fixture("tls-key.pem") };

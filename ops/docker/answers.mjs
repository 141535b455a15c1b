// For a container's health check: exits with 0 if the relay answers a path (such as /readyz) successfully.

import { readFileSync } from "node:fs";
import { request as plain } from "node:http";
import { request as encrypted } from "node:https";
import { parseEnv } from "node:util";

// The relay reads this file too, and variables of the environment take precedence.
const { PORT = "8080", HOST = "0.0.0.0", TLS_CERT_FILE } = { ...readSettings(), ...process.env };
const anyAddress = ["0.0.0.0", "::", ""];
const options = {
  host: anyAddress.includes(HOST) ? "127.0.0.1" : HOST,
  port: Number(PORT),
  path: process.argv[2] ?? "/healthz",
  timeout: 4000,
  // The certificate is for the relay's public name, not for 127.0.0.1.
  rejectUnauthorized: false,
};
const call = (TLS_CERT_FILE ? encrypted : plain)(options, (response) => {
  response.resume();
  process.exit(response.statusCode === 200 ? 0 : 1);
});
call.on("timeout", () => process.exit(1));
call.on("error", () => process.exit(1));
call.end();

function readSettings() {
  try {
    return parseEnv(readFileSync(".env", "utf8").replace(/^\uFEFF/, ""));
  } catch {
    return {};
  }
}

// For a container's health check: exits with 0 if the relay answers a path (such as /readyz) successfully.

import { request as plain } from "node:http";
import { request as encrypted } from "node:https";

const { PORT = "8080", TLS_CERT_FILE } = process.env;
const options = {
  host: "127.0.0.1",
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

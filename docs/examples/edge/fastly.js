// A Fastly Compute service for shop.example.com. `relay` and `pages` are its backends; the config store `cleancast` has RELAY, and
// the secret store `cleancast` has EDGE_SECRET. See docs/how-to/edge.md.

import { ConfigStore } from "fastly:config-store";
import { SecretStore } from "fastly:secret-store";

addEventListener("fetch", (event) => event.respondWith(answer(event)));

async function answer({ request, client }) {
  const url = new URL(request.url);
  if (!url.pathname.startsWith("/__cc/")) return fetch(request, { backend: "pages" });
  const relay = new URL(url.pathname + url.search, new ConfigStore("cleancast").get("RELAY"));
  const secret = await new SecretStore("cleancast").get("EDGE_SECRET");
  const headers = new Headers(request.headers);
  for (const name of request.headers.keys())
    if (/^(x-forwarded-|fastly-|x-cleancast-edge-|forwarded$|x-real-ip$|via$|host$|connection$)/.test(name)) headers.delete(name);
  headers.set("X-Cleancast-Edge-Secret", secret.plaintext());
  headers.set("X-Cleancast-Edge-Host", url.host);
  headers.set("X-Cleancast-Edge-Address", client.address);
  headers.set("X-Cleancast-Edge-Proto", url.protocol.slice(0, -1));
  const { method, body } = request;
  return fetch(relay, { method, headers, body, backend: "relay", redirect: "manual", ...(body && { duplex: "half" }) });
}

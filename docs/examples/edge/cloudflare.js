// A Cloudflare Worker on the route shop.example.com/__cc/*. Set RELAY and the secret EDGE_SECRET in its settings.
// See docs/how-to/edge.md.

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const relay = new URL(url.pathname + url.search, env.RELAY);
    const headers = new Headers(request.headers);
    // What the visitor claims about itself does not count.
    for (const name of request.headers.keys())
      if (/^(x-forwarded-|x-cleancast-edge-|forwarded$|x-real-ip$|via$)/.test(name)) headers.delete(name);
    headers.set("X-Cleancast-Edge-Secret", env.EDGE_SECRET);
    headers.set("X-Cleancast-Edge-Host", url.host);
    headers.set("X-Cleancast-Edge-Address", request.headers.get("CF-Connecting-IP") ?? "");
    headers.set("X-Cleancast-Edge-Proto", url.protocol.slice(0, -1));
    const { method, body } = request;
    return fetch(new Request(relay, { method, headers, body, redirect: "manual" }));
  },
};

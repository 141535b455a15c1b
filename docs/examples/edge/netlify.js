// netlify/edge-functions/cleancast.js of a site at Netlify. Set RELAY and EDGE_SECRET in the site's environment variables.
// See docs/how-to/edge.md.

export const config = { path: "/__cc/*" };

export default function cleancast(request, context) {
  const url = new URL(request.url);
  const relay = new URL(url.pathname + url.search, Netlify.env.get("RELAY"));
  const headers = new Headers(request.headers);
  for (const name of request.headers.keys())
    if (/^(x-forwarded-|x-nf-|x-cleancast-edge-|forwarded$|x-real-ip$|via$|host$|connection$)/.test(name)) headers.delete(name);
  headers.set("X-Cleancast-Edge-Secret", Netlify.env.get("EDGE_SECRET"));
  headers.set("X-Cleancast-Edge-Host", url.host);
  headers.set("X-Cleancast-Edge-Address", context.ip);
  headers.set("X-Cleancast-Edge-Proto", "https");
  const { method, body } = request;
  return fetch(relay, { method, headers, body, redirect: "manual", ...(body && { duplex: "half" }) });
}

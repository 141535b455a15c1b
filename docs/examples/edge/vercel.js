// middleware.js of a project at Vercel. Set RELAY and EDGE_SECRET in the project's environment variables.
// See docs/how-to/edge.md.

export const config = { matcher: "/__cc/:path*" };

export default function middleware(request) {
  const url = new URL(request.url);
  const relay = new URL(url.pathname + url.search, process.env.RELAY);
  const headers = new Headers(request.headers);
  // Vercel writes the visitor's address itself, and overwrites what the visitor sent.
  const address = (request.headers.get("x-real-ip") ?? request.headers.get("x-forwarded-for") ?? "").split(",")[0].trim();
  for (const name of request.headers.keys())
    if (/^(x-forwarded-|x-vercel-|x-cleancast-edge-|forwarded$|x-real-ip$|via$|host$|connection$)/.test(name))
      headers.delete(name);
  headers.set("X-Cleancast-Edge-Secret", process.env.EDGE_SECRET);
  headers.set("X-Cleancast-Edge-Host", url.host);
  headers.set("X-Cleancast-Edge-Address", address);
  headers.set("X-Cleancast-Edge-Proto", "https");
  const { method, body } = request;
  return fetch(relay, { method, headers, body, redirect: "manual", ...(body && { duplex: "half" }) });
}

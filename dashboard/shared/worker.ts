// The service worker of a wall: it opens the page from its own copy while the relay is away. It stores the page, its script and its
// style, and never numbers.

/** What TypeScript's types of a page lack. */
type WorkerEvent = Event & {
  request: Request;
  respondWith(answer: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
};
type WorkerScope = {
  location: Location;
  clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate" | "fetch", listener: (event: WorkerEvent) => void): void;
};

const worker = self as unknown as WorkerScope;
const cacheName = "wall";

worker.addEventListener("install", () => void worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isPart = url.origin === worker.location.origin && url.pathname.startsWith("/shared/");
  if (request.method === "GET" && (request.mode === "navigate" || isPart)) event.respondWith(answer(request));
});

async function answer(request: Request): Promise<Response> {
  const cache = await caches.open(cacheName);
  try {
    const fresh = await fetch(request);
    // A proxy answers 502 while the relay starts.
    if (fresh.status >= 500) throw new Error("away");
    // The page that opens links is no wall.
    if (fresh.ok && fresh.headers.get("x-cleancast-view") !== "opener") await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    const known = await cache.match(request);
    if (known) return known;
    throw error;
  }
}

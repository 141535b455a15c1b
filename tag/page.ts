// Access to the page. The tag never throws into the page and never blocks it.

/** The server puts the site's configuration in front of the tag, in this order; see src/identity/tagScript.ts. */
declare const $CC: [
  /** The site's id. */
  site: string,
  /** Nothing may be stored or sent before the visitor consents. */
  optIn: boolean,
  /** Patterns for the names of click ids and UTM fields, and of cookies with browser ids. */
  params: string,
  cookies: string,
  /** The site has links to other domains of its own, which the second part of the tag decorates. */
  hasLinks?: 1,
];
export const [site, optIn, paramNames, cookieNames, hasLinks] = $CC;

export const page = document;
export const agent = navigator;

/** Runs `work` and swallows its errors. */
export function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {}
}

/** Listens in the capture phase, so that the page's own handlers cannot hide events. */
export const listen = (target: EventTarget, type: string, handle: (event: Event) => void) =>
  target.addEventListener(type, (event) => safely(() => handle(event)), true);

const script = page.currentScript as HTMLScriptElement | null;
const endpoints = `${script ? new URL(".", script.src) : "/__cc/"}`;

/**
 * Loads the second part of the tag (tag/use.ts), which observes how the page is used. Nothing waits for it, and it waits for the page:
 * browsers open few connections to a host, and a relay that hangs would keep one from the page. A module is loaded once, and under
 * the nonce of this script where the page's policy asks for one.
 */
export const loadSecondPart = (): unknown =>
  // "complete" is the only state that comes before "d".
  page.readyState > "d" ? listen(window, "load", loadSecondPart) : import(`${endpoints}use.js`).catch(() => {});

/** Sends a beacon, or else a `keepalive` request. Both outlive the page. */
export function send(endpoint: string, data: object): void {
  const body = JSON.stringify(data);
  if (safely(() => agent.sendBeacon(endpoints + endpoint, body))) return;
  void fetch(endpoints + endpoint, { method: "POST", body, keepalive: true, credentials: "include" }).catch(() => {});
}

export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return new Uint8Array(digest).reduce((hex, byte) => hex + (byte + 256).toString(16).slice(1), "");
}

/** Runs `work` when the page is visible: a background tab is not a visit yet. */
export function onceVisible(work: () => void): void {
  if (!page.hidden) return work();
  page.addEventListener("visibilitychange", () => onceVisible(work), { once: true });
}

/** A prerendered page is not visible yet, and may never be. */
export const isPrerendered = () => (page as { prerendering?: boolean }).prerendering;

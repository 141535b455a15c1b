// The page around the tag, and the two promises that the tag makes to it: no error of ours reaches it, and nothing
// of ours makes it wait.

export type Config = {
  /** The site's id. */
  site: string;
  /** Nothing may be stored before the visitor agreed. */
  optIn: boolean;
  /** Names of click ids and UTM fields, and of cookies with browser ids, as alternatives of a pattern. */
  params: string;
  cookies: string;
};

/** The server puts the site's configuration in front of the tag; see identity/tagScript.ts. */
declare const $CC: Config;
export const config = $CC;

export const page = document;
export const agent = navigator;

/** Runs `work` so that whatever goes wrong in it stays in it. */
export function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** A listener that sees events first, and never holds them up. */
export function listen(target: EventTarget, type: string, react: (event: Event) => void): void {
  target.addEventListener(type, (event) => quietly(() => react(event)), { capture: true, passive: true });
}

const script = page.currentScript as HTMLScriptElement | null;
const home = script ? new URL(".", script.src).href : "/__cc/";

/** A beacon outlives the page that sent it. */
export function send(endpoint: string, data: object): void {
  const body = JSON.stringify(data);
  if (quietly(() => agent.sendBeacon(home + endpoint, body))) return;
  void fetch(home + endpoint, { method: "POST", body, keepalive: true, credentials: "include" }).catch(
    () => {},
  );
}

export async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => (byte + 256).toString(16).slice(1)).join("");
}

/** A page in the background becomes a visit when somebody sees it. */
export function onceVisible(work: () => void): void {
  if (page.visibilityState !== "hidden") return work();
  page.addEventListener("visibilitychange", () => onceVisible(work), { once: true });
}

/** Rendered ahead of time: nobody sees it yet, and perhaps nobody ever will. */
export const isAhead = () => (page as { prerendering?: boolean }).prerendering;

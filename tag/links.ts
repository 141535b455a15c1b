// Links to other domains of the site carry the visit over: at the click they get a token, which the relay has sealed for this
// visitor. Where the relay has none, or does not answer, links stay as they are.

/** The server puts the site's link domains in front of the second part; see src/identity/tagScript.ts. */
declare const $CC: string[];

export const page = document;
const parameter = "cc_clid";
/** A token is valid for 15 minutes, and used for 10: the others are for the way to the other page. */
const maxAgeMs = 6e5;
const refreshMs = 3e5;
const timeoutMs = 1e3;

/** For pages, and for payments. */
let tokens: string[] = [];
let askedAt = 0;
let nextAt = 0;

const now = Date.now;

/** A link or a URL. */
type Place = Pick<URL, "protocol" | "hostname">;

const isListed = ({ protocol, hostname }: Place) =>
  protocol === location.protocol && hostname !== location.hostname && $CC.some((domain) => `.${hostname}`.endsWith(`.${domain}`));

async function ask(): Promise<void> {
  try {
    const answer = await fetch(new URL("link", import.meta.url), { method: "POST", credentials: "include" });
    // There are none after 204, nor in the page of a proxy that failed.
    tokens = (await answer.text()).match(/\bcc_[\w-]{40,}/g) ?? [];
    askedAt = now();
  } catch {}
}

const read = (address: string) => new URL(address, location.href);

/** Asks for tokens before they are needed, on pages that have a link for one. */
function prepare(): void {
  if (now() < nextAt) return;
  nextAt = now() + timeoutMs;
  if (![...page.links, ...page.forms].some((one) => isListed("action" in one ? read(one.action) : one))) return;
  nextAt = now() + refreshMs;
  void ask();
}

/** The relay, or the first part of the tag, has left a refusal in the browser. */
export const hasRefused = () => /__cc_\w+=denied/.test(page.cookie) || localStorage.__cc === "denied";

/** Returns the parameter that carries the visit to this address; nothing where none may. */
function parameterFor(url: URL): [name: string, token: string] | undefined {
  const isPayment = url.hostname === "buy.stripe.com";
  const name = isPayment ? "client_reference_id" : parameter;
  const token = tokens[+isPayment];
  const isUsable = token && now() - askedAt < maxAgeMs && isListed(url) && !url.searchParams.has(name) && !hasRefused();
  return isUsable ? [name, token] : undefined;
}

/** The other parameters stay as they are written: they may be signed. */
function decorate(url: URL): string {
  const found = parameterFor(url);
  if (found) url.search += (url.search && "&") + found.join("=");
  return url.href;
}

/** Changes the link for the navigation that begins now, and not for those who read or copy it later. */
function onClick(event: Event): void {
  const link = event.composedPath().find((target) => (target as Partial<Element>).matches?.("[href]")) as HTMLAnchorElement;
  const before = link.getAttribute("href") as string;
  const after = decorate(read(link.href));
  if (after === link.href) return;
  link.href = after;
  setTimeout(() => link.href === after && link.setAttribute("href", before));
}

/** The fields of a form replace the query of its address. */
function onSubmit({ target }: Event): void {
  const form = target as HTMLFormElement;
  const found = form.method === "get" && parameterFor(read(form.action));
  if (!found) return;
  const field = page.createElement("input");
  field.type = "hidden";
  [field.name, field.value] = found;
  form.append(field);
  setTimeout(() => field.remove());
}

/** `hasClick`: the visit has just begun, and its cookie may still be on the way. */
export function watchLinks(on: (type: never, handle: (event: never) => void, isAny: true) => void, hasClick: boolean) {
  const here = read(location.href);
  if (here.searchParams.has(parameter)) {
    here.searchParams.delete(parameter);
    // By the browser's own function: the first part of the tag watches the page's, and this is no new page.
    History.prototype.replaceState.call(history, history.state, "", here);
  }
  const listen = (type: string, handle: (event: never) => void) => on(type as never, handle, true);
  listen("pointerover", prepare);
  listen("focusin", prepare);
  listen("click", onClick);
  listen("auxclick", onClick);
  listen("submit", onSubmit);
  try {
    prepare();
  } catch {}
  if (hasClick && $CC[0]) setTimeout(() => tokens[0] ?? ask(), timeoutMs);
  return async (address: string): Promise<string> => {
    const url = read(address);
    if (isListed(url) && now() - askedAt > refreshMs)
      await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
    return decorate(url);
  };
}

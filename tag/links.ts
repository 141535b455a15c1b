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

const isListed = (place: Place) =>
  place.protocol === location.protocol &&
  place.hostname !== location.hostname &&
  $CC.some((domain) => `.${place.hostname}`.endsWith(`.${domain}`));

async function ask(): Promise<void> {
  try {
    const answer = await fetch(new URL("link", import.meta.url), { method: "POST", credentials: "include" });
    // There are none after 204, nor in the page of a proxy that failed.
    tokens = (await answer.text()).match(/\bcc_[\w-]{40,}/g) ?? [];
    askedAt = now();
  } catch {}
}

const read = (address: string) => new URL(address, page.baseURI);

/** Asks for tokens before they are needed, on pages that have a link for one. */
function prepare(): void {
  if (now() < nextAt) return;
  nextAt = now() + timeoutMs;
  if (![...page.links, ...page.forms].some((one) => isListed("href" in one ? (one as Place) : read(one.action)))) return;
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
  if (token && now() - askedAt < maxAgeMs && isListed(url) && !url.searchParams.has(name) && !hasRefused()) return [name, token];
  return undefined;
}

/** Returns an address as it is given where it gets no token. The other parameters stay as they are written: they may be signed. */
function decorate(address: string): string {
  const url = read(address);
  const found = parameterFor(url);
  if (!found) return address;
  url.search += (url.search && "&") + found.join("=");
  return url.href;
}

/** Changes the link for the navigation that begins now, and not for those who read or copy it later. */
function onClick(event: Event): void {
  // The attribute, because links in drawings have no text as `href`. Icons have the attribute too.
  const link = event.composedPath().find((target) => (target as Partial<Element>).matches?.(":any-link")) as Element;
  const before = link.getAttribute("href") as string;
  const after = decorate(before);
  if (after === before) return;
  link.setAttribute("href", after);
  setTimeout(() => link.getAttribute("href") === after && link.setAttribute("href", before));
}

/** The fields of a form replace the query of its address. */
function onSubmit(event: Event): void {
  const form = event.target as HTMLFormElement;
  const found = form.method === "get" && parameterFor(read(form.action));
  if (!found) return;
  const field = page.createElement("input");
  field.type = "hidden";
  [field.name, field.value] = found;
  form.append(field);
  setTimeout(() => field.remove());
}

/** `hasClick`: the visit has just begun, and its cookie may still be on the way. */
export function watchLinks(
  on: (type: keyof DocumentEventMap, handle: (event: Event) => void, isAny: true) => void,
  hasClick: boolean,
) {
  const here = read(location.href);
  if (here.searchParams.has(parameter)) {
    here.searchParams.delete(parameter);
    // By the browser's own function: the first part of the tag watches the page's, and this is no new page.
    History.prototype.replaceState.call(history, history.state, "", here);
  }
  on("pointerover", prepare, true);
  on("focusin", prepare, true);
  on("click", onClick, true);
  on("auxclick", onClick, true);
  on("submit", onSubmit, true);
  try {
    prepare();
  } catch {}
  if (hasClick && $CC[0]) setTimeout(() => tokens[0] ?? ask(), timeoutMs);
  return async (address: string): Promise<string> => {
    if (isListed(read(address)) && now() - askedAt > refreshMs)
      await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, timeoutMs))]);
    return decorate(address);
  };
}

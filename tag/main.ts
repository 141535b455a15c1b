// The browser tag: reports visits with their click ids, and the hashed emails that visitors submit.

import { canonicalEmail, listForms, looksLikeEmail } from "../src/identity/email.ts";
import { orderKey } from "../src/kernel/reconciliation.ts";
import { decide, earlier, finalizeConsent, isDecided, mayIdentify, readConsent, sources } from "./consent.ts";
import { watchForms } from "./forms.ts";
import { readIds, readAddress, readAddresses } from "./ids.ts";
import { isPrerendered, listen, onceVisible, optIn, page, safely, send, sha256, site } from "./page.ts";
import { readBrowser } from "./signals.ts";

/** A call from before the tag was loaded: method, arguments, and the resolver of its promise. */
type Queued = [method: keyof Api, args: unknown[], resolve?: (result: unknown) => void];
type Api = {
  identifyEmail(email: string): Promise<boolean>;
  consent(decision: string): void;
  eventId(event: string, orderId: string | number): Promise<string | void>;
  ready: true;
};

/**
 * Links the reports that a page sends before the first answer sets the visitor cookie. It lives in the page's memory, and
 * pages on which consent is refused from the start have none.
 */
let visitor: string | undefined;
const nameVisitor = () => (visitor ??= safely(() => crypto.randomUUID().slice(-22)));

/** After a refusal a report carries only the refusal. */
const report = (endpoint: string, more?: object) =>
  safely(
    () =>
      isDecided() &&
      send(endpoint, {
        visitor,
        earlier,
        consent: sources,
        ...(mayIdentify() && { visitor: nameVisitor(), browser: readBrowser(), ...readIds() }),
        ...more,
      }),
  );

/** Hashed emails that wait for the visitor's decision. */
const pending: object[] = [];

/** In opt-out mode the emails of a visitor who refused are sent too: the relay must know whose ids it withholds. */
function sendPending(): void {
  if (!isPrerendered() && isDecided() && (!optIn || mayIdentify()))
    for (const email of pending.splice(0)) report("identify", email);
}

/** The same email under the same consent is sent once per page. */
let sent: Record<string, unknown> = {};

async function queueEmail(email: string, submit?: unknown[]): Promise<boolean> {
  const text = canonicalEmail(email);
  const isHash = /^[0-9a-f]{64}$/.test(text);
  if (!isHash && !looksLikeEmail(text)) return false;
  const emails = isHash ? [text] : await Promise.all(listForms(text).map(async (form) => form && sha256(form)));
  sent[emails[0] as string] ??= pending.push({ emails, submit });
  sendPending();
  return true;
}

const identifyEmail = (email: string, submit?: unknown[]) => queueEmail(email, submit).catch(() => false);

/** Computes the same id as `orderEventId` in src/kernel/ids.ts. */
async function eventId(event: string, orderId: string | number): Promise<string> {
  const hex = await sha256(`${site}\n${event.trim().toLowerCase()}\n${orderKey(`${orderId}`)}`);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, "$1-$2-8$3-a$4-$5");
}

const api: Api = {
  identifyEmail,
  consent(decision) {
    if (decision === "granted" || decision === "denied") decide(decision);
  },
  eventId: (event, orderId) => eventId(event, orderId).catch(() => {}),
  ready: true,
};

const visit = () => onceVisible(() => report("visit"));

function start(): void {
  readAddresses();
  readConsent((isFirst) => {
    if (isFirst) visit();
    else {
      sent = {};
      report("consent");
    }
    sendPending();
  });
  listen(window, "pagehide", () => {
    finalizeConsent();
    sendPending();
    // The answer to an earlier report of this page may have overtaken the answer that removed the visitor cookie.
    if (visitor && !mayIdentify()) report("consent");
  });
  watchForms(identifyEmail);

  let url: string | undefined;
  const hasMoved = () => url !== (url = location.href.split("#")[0]);
  hasMoved();
  const onNavigation = () => {
    if (!hasMoved()) return;
    readAddress(location.href);
    visit();
  };
  for (const method of ["pushState", "replaceState"] as const) {
    const original = history[method];
    history[method] = function (...args) {
      original.apply(this, args);
      onNavigation();
    };
  }
  listen(window, "popstate", onNavigation);
  listen(window, "pageshow", (event) => (event as PageTransitionEvent).persisted && visit());
}

safely(() => {
  const global = window as { cc?: Partial<Api> & { q?: Queued[] } };
  const stub = global.cc ?? {};
  if (stub.ready) return;
  global.cc = Object.assign(stub, api);
  if (isPrerendered()) {
    // When the page is shown, the relay recognises it by the proposed visitor id and counts it once.
    if (mayIdentify()) send("visit", { visitor: nameVisitor(), prerendered: 1 });
    listen(page, "prerenderingchange", start);
  } else start();
  for (const [method, args, resolve] of stub.q ?? []) {
    safely(() => resolve?.((api[method] as (...all: unknown[]) => unknown)(...args)));
  }
});

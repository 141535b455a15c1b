// The browser tag: reports visits with their click ids, and the hashed emails that visitors submit.

import { canonicalEmail, listForms, looksLikeEmail } from "../src/identity/email.ts";
import {
  decide,
  earlier,
  isDecided,
  isProvisional,
  mayIdentify,
  readConsent,
  sources,
  finalizeConsent,
} from "./consent.ts";
import { watchForms } from "./forms.ts";
import { readIds, readAddress, readAddresses } from "./ids.ts";
import { config, isPrerendered, listen, onceVisible, page, safely, send, sha256 } from "./page.ts";
import { readBrowser } from "./signals.ts";

/** A call from before the tag was loaded: method, arguments, and the resolver of its promise. */
type Queued = [method: keyof Api, args: unknown[], resolve?: (result: unknown) => void];
type Api = {
  identifyEmail(email: string): Promise<boolean>;
  consent(decision: string): void;
  eventId(event: string, orderId: string | number): Promise<string | undefined>;
};

/** Links the reports that a page sends before the first answer sets the visitor cookie. */
const visitor = safely(() => crypto.randomUUID().slice(-22));

const report = (endpoint: string, more?: object) =>
  safely(
    () =>
      isProvisional ||
      send(endpoint, {
        visitor,
        earlier,
        consent: sources,
        browser: readBrowser(),
        ...(mayIdentify() && readIds()),
        ...more,
      }),
  );

/** Hashed emails that wait for the visitor's decision; they are sent only after it. */
const pending: object[] = [];

function sendPending(): void {
  if (!isPrerendered() && isDecided()) for (const email of pending.splice(0)) report("identify", email);
}

const sent = new Set<string>();

async function queueEmail(email: string, submit?: unknown[]): Promise<boolean> {
  const text = canonicalEmail(email);
  const isHash = /^[0-9a-f]{64}$/.test(text);
  if (!isHash && !looksLikeEmail(text)) return false;
  const emails = isHash
    ? [text]
    : await Promise.all(listForms(text).map(async (form) => form && sha256(form)));
  // The same email under the same consent is sent once per page.
  const key = emails[0] + JSON.stringify(sources);
  if (!sent.has(key)) pending.push({ emails, submit });
  sent.add(key);
  sendPending();
  return true;
}

const identifyEmail = (email: string, submit?: unknown[]) => queueEmail(email, submit).catch(() => false);

/** Computes the same id as `orderEventId` in src/kernel/ids.ts. */
async function eventId(event: string, orderId: string | number): Promise<string> {
  const hex = await sha256(`${config.site}\n${event.trim().toLowerCase()}\n${`${orderId}`.trim()}`);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, "$1-$2-8$3-a$4-$5");
}

const api: Api = {
  identifyEmail,
  consent(decision) {
    if (decision === "granted" || decision === "denied") decide(decision);
  },
  eventId: (event, orderId) => eventId(event, orderId).catch(() => undefined),
};

const visit = () => onceVisible(() => report("visit"));

function start(): void {
  readAddresses();
  readConsent((isFirst) => {
    if (isFirst) visit();
    else report("consent");
    sendPending();
  });
  listen(window, "pagehide", () => {
    finalizeConsent();
    sendPending();
  });
  watchForms(identifyEmail);

  const currentUrl = () => location.href.split("#")[0] as string;
  let lastUrl = currentUrl();
  const onNavigation = () => {
    if (lastUrl === currentUrl()) return;
    lastUrl = currentUrl();
    readAddress(lastUrl);
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
  const global = window as { cc?: Partial<Api> & { q?: Queued[]; ready?: true } };
  if (global.cc?.ready) return;
  const queue = global.cc?.q ?? [];
  const ready = Object.assign(global.cc ?? {}, api, { ready: true as const });
  global.cc = ready;
  if (isPrerendered()) {
    // When the page is shown, the relay recognises it by the proposed visitor id and counts it once.
    report("visit", { prerendered: 1 });
    listen(page, "prerenderingchange", start);
  } else start();
  for (const [method, args, resolve] of queue) {
    safely(() => resolve?.((ready[method] as (...all: unknown[]) => unknown)(...args)));
  }
});

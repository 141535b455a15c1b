// The browser tag: remembers where a visitor came from, and under which hashed email to find that again.

import { emailForms, looksLikeEmail } from "../src/identity/email.ts";
import {
  decide,
  earlier,
  isDecided,
  mayBeCorrected,
  mayIdentify,
  readConsent,
  sources,
  takeAsFinal,
} from "./consent.ts";
import { watchForms } from "./forms.ts";
import { ids, readAddress, readAddresses } from "./ids.ts";
import { config, listen, onceVisible, quietly, send, sha256 } from "./page.ts";

/** A call that was made before the tag was there: method, arguments, and who waits for the result. */
type Queued = [method: keyof Api, args: unknown[], resolve?: (result: unknown) => void];
type Api = {
  identifyEmail(email: string): Promise<boolean>;
  consent(decision: string): void;
  eventId(event: string, orderId: string | number): Promise<string | undefined>;
};

/** Reports that leave a page before the first was answered carry no cookie yet: this says that they are one visitor's. */
const visitor = quietly(() => crypto.randomUUID().slice(-22));

const report = (endpoint: string, more?: object) =>
  quietly(
    () =>
      mayBeCorrected ||
      send(endpoint, { visitor, earlier, consent: sources, ...(mayIdentify() && ids()), ...more }),
  );

/** Hashed emails that wait for the visitor's decision; they leave this page only with it. */
const waiting: string[][] = [];

function identify(emails?: string[]): void {
  if (emails) waiting.push(emails);
  if (isDecided()) for (const some of waiting.splice(0)) report("identify", { emails: some });
}

const sent = new Set<string>();

async function identifyEmail(email: string): Promise<boolean> {
  const text = email.trim().toLowerCase();
  const isHash = /^[0-9a-f]{64}$/.test(text);
  if (!isHash && !looksLikeEmail(text)) return false;
  const { canonical, google, microsoft, reddit } = emailForms(text);
  const emails = isHash
    ? [text]
    : await Promise.all(
        [canonical, google, microsoft, reddit].map(async (form) => (form ? sha256(form) : "")),
      );
  // The same email, under the same consent, needs to be told once a page.
  const mark = emails[0] + JSON.stringify(sources);
  if (!sent.has(mark)) identify(emails);
  sent.add(mark);
  return true;
}

/** The same as `foretoldId` of the relay, see src/ids.ts. */
async function eventId(event: string, orderId: string | number): Promise<string> {
  const hex = await sha256(`${config.site}\n${event.trim().toLowerCase()}\n${String(orderId).trim()}`);
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, "$1-$2-8$3-a$4-$5");
}

const api: Api = {
  identifyEmail: (email) => identifyEmail(email).catch(() => false),
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
    identify();
  });
  listen(window, "pagehide", () => {
    takeAsFinal();
    identify();
  });
  watchForms((email) => void api.identifyEmail(email));

  let path = location.pathname + location.search;
  const moved = () =>
    quietly(() => {
      const now = location.pathname + location.search;
      if (now === path) return;
      path = now;
      readAddress(location.href);
      visit();
    });
  for (const method of ["pushState", "replaceState"] as const) {
    const original = history[method];
    history[method] = function (...args) {
      original.apply(this, args);
      moved();
    };
  }
  listen(window, "popstate", moved);
  listen(window, "pageshow", (event) => (event as PageTransitionEvent).persisted && visit());
}

quietly(() => {
  const page = window as { cc?: Partial<Api> & { q?: Queued[]; ready?: true } };
  if (page.cc?.ready) return;
  const queue = page.cc?.q ?? [];
  const ready = Object.assign(page.cc ?? {}, api, { ready: true as const });
  page.cc = ready;
  start();
  for (const [method, args, resolve] of queue) {
    quietly(() => resolve?.((ready[method] as (...all: unknown[]) => unknown)(...args)));
  }
});

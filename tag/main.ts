// The browser tag: remembers where a visitor came from, and under which hashed email to find that again.

import { canonicalEmail, listForms, looksLikeEmail } from "../src/identity/email.ts";
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
import { config, isAhead, listen, onceVisible, page, quietly, send, sha256 } from "./page.ts";
import { browser } from "./signs.ts";

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
      send(endpoint, {
        visitor,
        earlier,
        consent: sources,
        browser: browser(),
        ...(mayIdentify() && ids()),
        ...more,
      }),
  );

/** Hashed emails that wait for the visitor's decision; they leave this page only with it. */
const waiting: object[] = [];

function identify(): void {
  if (!isAhead() && isDecided()) for (const one of waiting.splice(0)) report("identify", one);
}

const sent = new Set<string>();

async function take(email: string, submit?: unknown[]): Promise<boolean> {
  const text = canonicalEmail(email);
  const isHash = /^[0-9a-f]{64}$/.test(text);
  if (!isHash && !looksLikeEmail(text)) return false;
  const emails = isHash
    ? [text]
    : await Promise.all(listForms(text).map(async (form) => form && sha256(form)));
  // The same email, under the same consent, needs to be told once a page.
  const mark = emails[0] + JSON.stringify(sources);
  if (!sent.has(mark)) waiting.push({ emails, submit });
  sent.add(mark);
  identify();
  return true;
}

const identifyEmail = (email: string, submit?: unknown[]) => take(email, submit).catch(() => false);

/** The same as `orderEventId` of the relay, see src/kernel/ids.ts. */
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
    identify();
  });
  listen(window, "pagehide", () => {
    takeAsFinal();
    identify();
  });
  watchForms(identifyEmail);

  const here = () => location.href.split("#")[0] as string;
  let last = here();
  const moved = () => {
    if (last === here()) return;
    last = here();
    readAddress(last);
    visit();
  };
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
  const here = window as { cc?: Partial<Api> & { q?: Queued[]; ready?: true } };
  if (here.cc?.ready) return;
  const queue = here.cc?.q ?? [];
  const ready = Object.assign(here.cc ?? {}, api, { ready: true as const });
  here.cc = ready;
  if (isAhead()) {
    // The relay knows the page by its visitor's proposed id when it is shown, and counts it once.
    report("visit", { ahead: 1 });
    listen(page, "prerenderingchange", start);
  } else start();
  for (const [method, args, resolve] of queue) {
    quietly(() => resolve?.((ready[method] as (...all: unknown[]) => unknown)(...args)));
  }
});

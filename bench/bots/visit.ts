// One visit of a set-up to the site: its address, its front, and helpers to wait for the pages.

import { randomInt } from "node:crypto";
import type { Front, PageNews } from "./front.ts";
import type { PageSet } from "./pages.ts";
import { shop } from "./relay.ts";

export const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
export const between = (low: number, high: number) => low + Math.random() * (high - low);

export type Visit = {
  key: string;
  set: PageSet;
  front: Front;
  display: string;
  /** The landing page with a click id, as an advertisement links it. */
  url: string;
  email: string;
};

export type SetUp = {
  name: string;
  group: "browser" | "program" | "farm" | "attack" | "person";
  /** The network that the visit seems to come from; a home line by default. */
  network?: "home" | "hosted" | "google" | "azure" | "carrier" | "relay";
  /** Headers that a gateway on the way removes. */
  strips?: readonly string[];
  /** Whether a form with an email is submitted. */
  hasForm?: boolean;
  /** The browser of this machine plays another one. */
  isEmulated?: boolean;
  /** `next` ends the visit and begins that of another person in the same browser; false when no more are wanted. */
  run(visit: Visit, next: () => Promise<boolean>): Promise<void>;
};

const base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
export const clickId = () => `Cj0${Array.from({ length: 52 }, () => base62[randomInt(62)]).join("")}`;
export const adUrl = () => `https://${shop}/?gclid=${clickId()}&utm_source=google&utm_medium=cpc&utm_campaign=spring`;

/** Waits until a page with this path is loaded, and returns what it tells: where its elements are. */
export async function pageLoaded(visit: Visit, path: string, timeoutMs = 30_000): Promise<PageNews> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const found = visit.front.news.findLast((one) => one.path === path && "ready" in one);
    if (found) return found;
    if (Date.now() > until) throw new Error(`${visit.key}: ${path} was not loaded in time`);
    await sleep(50);
  }
}

let next = 0;
/** Networks that look like those of the named kind; every visit has its own. */
export function addressIn(network: SetUp["network"] = "home"): string {
  next += 1;
  const [high, low] = [Math.floor(next / 200) % 200, (next % 200) + 10];
  switch (network) {
    case "home":
      return `93.${192 + (next % 40)}.${high}.${low}`;
    case "hosted":
      return `64.225.${high}.${low}`;
    case "google":
      return `66.249.${64 + (next % 30)}.${low}`;
    case "azure":
      return `20.${36 + (next % 10)}.${high}.${low}`;
    case "carrier":
      return `80.187.${high}.${low}`;
    case "relay":
      return `172.224.${226 + (next % 4)}.${low}`;
  }
}

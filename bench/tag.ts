// Measures the size of the tag and its run time in a slow browser, compared with tags of other products.

import type { Browser } from "playwright-core";
import { launch } from "./support/browser.ts";
import { interleaved, median, number, roundsOf, timesBase, type Findings, type Mode, type Part } from "./part.ts";
import { createTags, type Tag } from "./tagPeers.ts";

const slower = 4;
const page = "https://shop.example.com/autumn?gclid=EAIaIQobChMI-Example_1&utm_source=google&utm_campaign=autumn";

/** Returns the milliseconds of parsing and running the script; work that it schedules for later is not included. */
async function timeIn(browser: Browser, { code }: Tag): Promise<number> {
  const context = await browser.newContext({ locale: "en-US" });
  // Nothing leaves this machine: every request of a tag gets an empty answer.
  await context.route("**/*", (route) =>
    route.fulfill(
      route.request().isNavigationRequest()
        ? { contentType: "text/html", body: "<!doctype html><title>Autumn</title><form></form>" }
        : { status: 204 },
    ),
  );
  const tab = await context.newPage();
  await tab.goto(page);
  const session = await context.newCDPSession(tab);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slower });
  // A string, because it runs in the page.
  const ms = await tab.evaluate<number>(`(() => {
    const script = document.createElement("script");
    // Inline, so that loading is not measured; currentScript makes it look loaded from its usual address.
    const loaded = Object.assign(document.createElement("script"), { src: "/__cc/tag.js" });
    Object.defineProperty(document, "currentScript", { value: loaded });
    script.textContent = ${JSON.stringify(code)};
    const began = performance.now();
    document.head.append(script);
    return performance.now() - began;
  })()`);
  await context.close();
  return ms;
}

async function run(mode: Mode): Promise<Findings> {
  const tags = await createTags();
  const browser = await launch();
  const times = browser
    ? await interleaved(roundsOf(mode, 15), Object.fromEntries(tags.map((tag) => [tag.name, () => timeIn(browser, tag)])))
    : {};
  await browser?.close();
  const of = (tag: Tag) => median(times[tag.name] ?? []);
  const ours = tags[0] as Tag;
  return {
    tables: [
      {
        title: `Chromium${browser ? ` ${browser.version()}` : ""}, ${slower} times slower than this machine`,
        head: ["", "bytes gzip", "× ours", "ms to run", "× ours"],
        rows: tags.map((tag) => [
          tag.name,
          number(tag.gzip),
          timesBase(tag.gzip / ours.gzip, ours.gzip),
          number(of(tag)),
          timesBase(of(tag) / of(ours), of(ours)),
        ]),
      },
    ],
    targets: [],
    notes: browser ? [] : ["No Chromium was found, so only the bytes were measured."],
  };
}

export const tag: Part = {
  name: "tag",
  title: "The tag",
  about: `Each script runs with the line that enables it, in a new profile, on a page reached through an ad. The time covers parsing and
running it, but neither loading it nor work that it schedules for later. The products do different things; the table shows the cost for a page.`,
  run,
};

// The samples of the pages for browsers, as they are written there: the tag's line, its queue, its functions, the form trap.

import { beforeAll, expect, test } from "vitest";
import { blocksOf } from "../support/documents/documents.ts";
import { hashEmail } from "../support/person.ts";
import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";
import { decided } from "./visitor.ts";

/** Returns the samples of a page that name this test, in the order of the page. */
const samplesOf = (page: string) =>
  blocksOf(page)
    .filter(({ mark }) => mark === "by test/browser/samples.test.ts")
    .map(({ text }) => text);
const [tagLine = "", functions = "", queue = ""] = samplesOf("docs/how-to/tag.md");
const [, pixel = ""] = samplesOf("docs/tutorials/first-meta-conversion.md");
const [trap = ""] = samplesOf("docs/explanation/bot-filtering.md");

/** Makes a program of a sample that uses `await`, with a pixel that records its calls. */
const withPixel = (code: string) =>
  `<script>window.sent = []; function fbq(...call) { sent.push(call) } window.done = (async () => { ${code} })();</script>`;
type Page = { sent: unknown[][]; done: Promise<void> };

inChromium("the samples of the pages", () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setUpStage();
    const { pages } = stage.site;
    pages["/line"] = pageWith(tagLine, "");
    pages["/functions"] = pageWith(queue + tagLine, withPixel(functions));
    pages["/pixel"] = pageWith(queue + tagLine, withPixel(pixel));
    pages["/trap"] = pageWith(
      tagLine,
      `<form action="/thanks" method="post"><input type="email" name="email">${trap}<button id="send">Send</button></form>`,
    );
  });

  test("every page has the same line of the tag, and it reports a visit with its click id", async () => {
    for (const page of ["README.md", "docs/tutorials/first-meta-conversion.md"]) expect(samplesOf(page)[0]).toBe(tagLine);
    const page = await (await newVisitor()).newPage();
    await page.goto(`${stage.site.origin}/line?gclid=from-the-sample`);
    const [visit] = await stage.site.waitForReports("visit", 1);
    expect(JSON.stringify(visit?.fields)).toContain("from-the-sample");
    await page.context().close();
  });

  test("the functions work before the tag has loaded, and the pixel gets the id that the relay sends", async () => {
    const page = await (await newVisitor()).newPage();
    for (const [path, orderId] of [
      ["/functions", "A-1001"],
      ["/pixel", "META-1"],
    ] as const) {
      stage.site.clearRecorded();
      await page.goto(`${stage.site.origin}${path}?gclid=pixel`);
      const sent = await page.evaluate(async () => {
        const here = window as unknown as Page;
        await here.done;
        return here.sent;
      });
      const { platformEventId } = await stage.convert("sample@customers.example", { orderId });
      expect(sent).toEqual([["track", "Purchase", { value: 49.9, currency: "EUR" }, { eventID: platformEventId }]]);
      if (path === "/pixel") continue;
      const [identified] = await stage.site.waitForReports("identify", 1);
      expect(JSON.stringify(identified?.fields)).toContain(hashEmail("ada@example.com"));
      await decided(stage, "own", "denied");
    }
    await page.context().close();
  });

  test("the form trap cannot be seen, and is reported when it was filled in", async () => {
    const page = await (await newVisitor()).newPage();
    stage.site.clearRecorded();
    await page.goto(`${stage.site.origin}/trap`);
    const box = await page.locator("[name=website]").boundingBox();
    expect(box?.x ?? 0).toBeLessThan(0);
    await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
    await page.evaluate(() => {
      (document.querySelector("[name=website]") as HTMLInputElement).value = "spam";
      (document.querySelector("[name=email]") as HTMLInputElement).value = "bot@customers.example";
    });
    // The second part of the tag sees the trap; it is loaded when the email gets the focus.
    await page.focus("[name=email]");
    await page.waitForFunction(() => "use" in (window as unknown as { cc: object }).cc);
    await page.click("#send");
    const [report] = await stage.site.waitForReports("identify", 1);
    expect(((report?.fields["submit"] as unknown[] | undefined)?.at(3) as unknown[] | undefined)?.at(13)).toBe(true);
    await page.context().close();
  });
});

// `npm run docs:animation` makes the moving picture of the README: "See it arrive" on a new installation, recorded in Chromium
// and written as an animated WebP. The picture is drawn step by step rather than filmed, so it is the same on a slow machine.
//
//   --out FILE   the file to write (docs/images/see-it-arrive.webp)

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Page } from "playwright-core";
import { findChromium, launchChromium } from "../test/browser/launch.ts";

const { values } = parseArgs({ options: { out: { type: "string", default: "docs/images/see-it-arrive.webp" } } });
const size = { width: 1080, height: 680 };

/** A part of the picture that changed, as the data of a WebP file, and for how long it is shown. */
type Frame = { x: number; y: number; width: number; height: number; ms: number; data: Buffer };

/** Starts a relay that has not been set up yet. */
async function startEmpty() {
  const data = mkdtempSync(join(tmpdir(), "cleancast-animation-"));
  const env = { ...process.env, CLEANCAST_DATA: data, HOST: "127.0.0.1", PORT: "0", LOG_LEVEL: "silent" };
  const program = fileURLToPath(new URL("../bin/cleancast.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, "serve"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  let output = "";
  let link: string | undefined;
  for await (const text of child.stdout.setEncoding("utf8"))
    if ((link = /http:\S+\/dashboard\/setup#\S+/.exec((output += text))?.[0])) break;
  if (!link) throw new Error("the relay printed no link for its set-up");
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
  return { link, stop };
}

/** Draws what changed since the last frame on a canvas of Chromium, which can write WebP. */
async function openRecorder(page: Page) {
  await page.goto("about:blank");
  const draw = (png: string) =>
    page.evaluate(async (source) => {
      const state = globalThis as unknown as { before?: ImageData };
      const image = new Image();
      image.src = `data:image/png;base64,${source}`;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext("2d", { alpha: false, willReadFrequently: true });
      if (!context) throw new Error("Chromium has no canvas");
      context.drawImage(image, 0, 0);
      const now = context.getImageData(0, 0, width, height);
      const [one, other] = [new Uint32Array(now.data.buffer), state.before && new Uint32Array(state.before.data.buffer)];
      let [left, top, right, bottom] = [width, height, 0, 0];
      for (let i = 0; i < one.length; i++) {
        if (one[i] === other?.[i]) continue;
        const [x, y] = [i % width, Math.floor(i / width)];
        [left, top] = [Math.min(left, x), Math.min(top, y)];
        [right, bottom] = [Math.max(right, x + 1), Math.max(bottom, y + 1)];
      }
      if (right === 0) return null;
      state.before = now;
      // Places are stored as half their number.
      [left, top] = [left - (left % 2), top - (top % 2)];
      const part = new OffscreenCanvas(right - left, bottom - top);
      part.getContext("2d", { alpha: false })?.drawImage(image, -left, -top);
      const blob = await part.convertToBlob({ type: "image/webp", quality: 0.6 });
      const bytes = new Uint8Array(await blob.arrayBuffer());
      const data = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
      return { x: left, y: top, width: part.width, height: part.height, data };
    }, png);
  const frames: Frame[] = [];
  return {
    frames,
    /** Shows what the page looks like for so long. */
    record: async (shown: Page, ms: number) => {
      const png = await shown.screenshot({ caret: "hide" });
      const part = await draw(png.toString("base64"));
      const last = frames.at(-1);
      if (part) frames.push({ ...part, ms, data: Buffer.from(part.data, "base64") });
      else if (last) last.ms += ms;
    },
  };
}

const chunk = (name: string, data: Buffer) => {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
};

/** Finds the image in a WebP file, which may begin with a header and a colour profile. */
function imageIn(file: Buffer): Buffer {
  // After "RIFF", the length and "WEBP".
  for (let at = 12; at < file.length;) {
    const length = file.readUInt32LE(at + 4);
    const end = at + 8 + length + (length % 2);
    if (file.toString("latin1", at, at + 4) === "VP8 ") return file.subarray(at, end);
    at = end;
  }
  throw new Error("Chromium wrote no lossy WebP");
}

/** Joins still pictures to an animated WebP that repeats for ever. */
function toAnimation(frames: readonly Frame[]): Buffer {
  const header = Buffer.alloc(10);
  header.writeUInt8(0b10, 0);
  header.writeUIntLE(size.width - 1, 4, 3);
  header.writeUIntLE(size.height - 1, 7, 3);
  const parts = frames.map(({ x, y, width, height, ms, data }) => {
    const place = Buffer.alloc(16);
    for (const [i, value] of [x / 2, y / 2, width - 1, height - 1, ms].entries()) place.writeUIntLE(value, 3 * i, 3);
    // The frame replaces what is below it.
    place.writeUInt8(0b10, 15);
    return chunk("ANMF", Buffer.concat([place, imageIn(data)]));
  });
  const body = [Buffer.from("WEBP"), chunk("VP8X", header), chunk("ANIM", Buffer.alloc(6)), ...parts];
  return chunk("RIFF", Buffer.concat(body));
}

/** Sets all animations of the page to a time, and scrolls to the last step that is visible then. */
const showAt = (page: Page, ms: number) =>
  page.evaluate((time) => {
    for (const animation of document.getAnimations()) {
      animation.pause();
      animation.currentTime = time;
    }
    const steps = [...document.querySelectorAll(".cc-way .cc-step")];
    const last = steps.findLast((step) => getComputedStyle(step).opacity !== "0");
    const hidden = (last?.getBoundingClientRect().bottom ?? 0) - innerHeight + 24;
    // A part of the way with each frame, so that the page glides.
    if (hidden > 0) scrollBy(0, Math.ceil(hidden / 2));
  }, ms);

const found = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
if ("missing" in found) throw new Error(found.missing);
const browser = await launchChromium(found);
const { link, stop } = await startEmpty();
try {
  const context = await browser.newContext({ viewport: size, locale: "en-US", colorScheme: "light" });
  const { frames, record } = await openRecorder(await context.newPage());
  const page = await context.newPage();
  await page.goto(link);
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Email").fill("ada@example.com");
  await page.locator("input[type=password]").fill("analytical engine");
  await page.locator("button[type=submit]").click();
  await page.waitForURL(/\/sites\/\w+\//);
  await page.goto(page.url().replace(/(\/sites\/\w+)\/.*/, "$1/first-conversion"));
  const send = page.getByRole("button", { name: "Send one for me" });
  await send.waitFor();
  await page.waitForFunction(() => document.querySelector(".mantine-Skeleton-root") === null);
  await record(page, 1_600);
  await send.hover();
  await record(page, 500);
  await send.click();
  await page.locator(".cc-way [role=status]", { hasText: "accepted it" }).waitFor();
  // Later steps begin together, after the first seven.
  for (let at = 0; at <= 2_500; at += 150) {
    await showAt(page, at);
    await record(page, 150);
  }
  for (let i = 0; i < 6; i++) {
    await showAt(page, 3_000);
    await record(page, 100);
  }
  await record(page, 4_000);
  const animation = toAnimation(frames);
  writeFileSync(values.out, animation);
  console.log(`${values.out}: ${frames.length} frames, ${Math.round(animation.length / 1024)} KB`);
} finally {
  await stop();
  await browser.close();
}

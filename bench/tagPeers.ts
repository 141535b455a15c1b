// Tags of comparable products: the file that a page loads, and the line that enables it. A product without such a file in its
// package is bundled as a site would do it.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { readTag, buildTagScript } from "../src/identity/tagScript.ts";
import { fileOf, installPeers, versionOf } from "./support/peerPackages.ts";

export type Tag = { name: string; code: string; gzip: number };

/** `file` is ready for a page; `entry` is a module that is bundled with the line that uses it. */
type Peer = { name: string; start: string } & ({ file: string } | { entry: string });

const peers: readonly Peer[] = [
  {
    name: "@plausible-analytics/tracker",
    entry: "plausible.js",
    start: `peer.init({ domain: "shop.example.com", captureOnLocalhost: true });`,
  },
  {
    name: "plausible-tracker",
    entry: "build/module/index.js",
    start: `peer.default({ domain: "shop.example.com", trackLocalhost: true }).enableAutoPageviews();`,
  },
  {
    name: "@snowplow/browser-tracker",
    entry: "dist/index.module.js",
    start: `peer.newTracker("sp", "https://collect.example.com", { appId: "shop" }); peer.trackPageView();`,
  },
  {
    name: "@jitsu/js",
    entry: "dist/jitsu.es.js",
    start: `peer.jitsuAnalytics({ host: "https://collect.example.com", writeKey: "a:b" }).page();`,
  },
  {
    name: "@segment/analytics-next",
    entry: "dist/pkg/index.js",
    start: `peer.AnalyticsBrowser.load({ writeKey: "example" }).page();`,
  },
  {
    name: "@rudderstack/analytics-js",
    entry: "dist/npm/modern/bundled/esm/index.mjs",
    start: `const r = new peer.RudderAnalytics(); r.load("example-write-key", "https://collect.example.com"); r.page();`,
  },
  {
    name: "mixpanel-browser",
    entry: "dist/mixpanel-core.cjs.js",
    start: `peer.default.init("example", { track_pageview: true });`,
  },
  {
    name: "posthog-js",
    file: "dist/array.js",
    start: `posthog.init("example", { api_host: "https://collect.example.com" });`,
  },
];

/** Our tag runs as soon as it is loaded and needs no line. */
function ourTag(): Tag {
  const { text, gzip } = buildTagScript(readTag(), {
    id: "x1y2z3a4b5",
    settings: { consentMode: "opt-out", linkDomains: [] },
  });
  return { name: "Cleancast", code: text, gzip: gzip.length };
}

async function tagOf(peer: Peer): Promise<Tag> {
  const code =
    "file" in peer
      ? `${readFileSync(fileOf(peer.name, peer.file), "utf8")}\n;${peer.start}`
      : await bundled(fileOf(peer.name, peer.entry), peer.start);
  return { name: `${peer.name} ${versionOf(peer.name)}`, code, gzip: gzipSync(code, { level: 9 }).length };
}

async function bundled(entry: string, start: string): Promise<string> {
  const own = "\0page";
  const bundle = await rolldown({
    input: own,
    platform: "browser",
    logLevel: "silent",
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === own ? own : null),
        load: (id) => (id === own ? `import * as peer from ${JSON.stringify(entry)};\n${start}` : null),
      },
    ],
  });
  // One file: code that a product would load later counts in the bytes and is parsed, but does not run.
  const { output } = await bundle.generate({ format: "iife", minify: true, codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

export async function createTags(): Promise<Tag[]> {
  installPeers();
  const tags = [ourTag()];
  for (const peer of peers) tags.push(await tagOf(peer));
  return tags;
}

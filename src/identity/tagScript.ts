// Builds the tag as a site's pages load it: the built script, called with the site's configuration. Each site's text is
// cached with its hash and its compressed forms until the configuration changes.

import { createHash, hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { packageFolder } from "../kernel/packageFolder.ts";
import type { ConsentMode } from "./attribution.ts";
import { browserIds, clickIds } from "./clickIds.ts";

export type TagScript = {
  text: string;
  /** Names the content: `/__cc/tag.<hash>.js` never changes. */
  hash: string;
  /** For `<script integrity>`. */
  integrity: string;
  gzip: Buffer;
  brotli: Buffer;
};

/** The part of a site that its tag depends on. */
type TaggedSite = { id: string; settings: { consentMode: ConsentMode; linkDomains: readonly string[] } };

export class TagNotBuilt extends Error {
  constructor() {
    super("The browser tag is not built yet. Run: npm run build");
  }
}

/** Reads a part of the built tag, which is the same for all sites. */
export function readTag(part: "tag" | "use" = "tag"): string {
  try {
    return readFileSync(new URL(`dist/${part}.js`, packageFolder), "utf8");
  } catch {
    throw new TagNotBuilt();
  }
}

export const tagScripts = (code: string): ((site: TaggedSite) => TagScript) =>
  cached(
    ({ id, settings }) => `${id} ${settings.consentMode} ${settings.linkDomains.length > 0}`,
    (site) => buildTagScript(code, site),
  );

export const secondParts = (code: string): ((site: TaggedSite) => TagScript) =>
  cached(
    ({ settings }) => settings.linkDomains.join(),
    (site) => buildSecondPart(code, site.settings.linkDomains),
  );

function cached(keyOf: (site: TaggedSite) => string, build: (site: TaggedSite) => TagScript): (site: TaggedSite) => TagScript {
  const scripts = new Map<string, TagScript>();
  return (site) => {
    const key = keyOf(site);
    let script = scripts.get(key);
    if (!script) {
      if (scripts.size >= 1000) scripts.clear();
      script = build(site);
      scripts.set(key, script);
    }
    return script;
  };
}

export function buildTagScript(code: string, site: TaggedSite): TagScript {
  // tag/page.ts reads the values in this order.
  const configuration = JSON.stringify([
    site.id,
    site.settings.consentMode === "opt-in",
    patternOf([...clickIds, { name: "utm_\\w+" }]),
    patternOf([...browserIds, { name: "_ga_\\w+" }]),
    ...(site.settings.linkDomains.length > 0 ? [1] : []),
  ]);
  return compress(`!function($CC){${code}}(${configuration});\n`);
}

/** The second part is the same for all sites but for the domains whose links it decorates. tag/links.ts reads them. */
export const buildSecondPart = (code: string, linkDomains: readonly string[]): TagScript =>
  compress(`let $CC=${JSON.stringify(linkDomains)};${code}\n`);

function compress(text: string): TagScript {
  return {
    text,
    hash: hash("sha256", text).slice(0, 16),
    integrity: `sha384-${createHash("sha384").update(text).digest("base64")}`,
    gzip: gzipSync(text, { level: 9 }),
    brotli: brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  };
}

/**
 * A pattern for the names in the tag. Names with the same end or beginning are one alternative, because each name costs bytes, and
 * sorted names compress better. The pattern may match more names than the lists have: the relay drops those.
 */
function patternOf(ids: readonly { name: string }[]): string {
  const names = ids.map(({ name }) =>
    name
      .replace(/^\w*(clid|braid)$/, "\\w*$1")
      .replace(/^\w+click_?id$/, "\\w*click_?id")
      .replace(/^_?ax\w+$/, "_?ax\\w+")
      .replace(/^(__o|_fb|_rdt_|gad)\w+$/, "$1\\w+"),
  );
  return [...new Set(names)].toSorted().join("|");
}

/** The lines that install the tag: `follows` always loads the newest, `pinned` this exact content. */
export function tagLines({ hash: name, integrity }: TagScript): { follows: string; pinned: string } {
  return {
    follows: `<script async src="/__cc/tag.js"></script>`,
    pinned: `<script async src="/__cc/tag.${name}.js" integrity="${integrity}" crossorigin="anonymous"></script>`,
  };
}

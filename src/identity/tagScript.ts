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
type TaggedSite = { id: string; settings: { consentMode: ConsentMode } };

export class TagNotBuilt extends Error {
  constructor() {
    super("The browser tag is not built yet. Run: npm run build");
  }
}

/** Reads the built tag, which is the same for all sites. */
export function readTag(): string {
  try {
    return readFileSync(new URL("dist/tag.js", packageFolder), "utf8");
  } catch {
    throw new TagNotBuilt();
  }
}

export function tagScripts(code: string): (site: TaggedSite) => TagScript {
  const scripts = new Map<string, TagScript>();
  return (site) => {
    const key = `${site.id} ${site.settings.consentMode}`;
    let script = scripts.get(key);
    if (!script) {
      if (scripts.size >= 1000) scripts.clear();
      script = buildTagScript(code, site);
      scripts.set(key, script);
    }
    return script;
  };
}

export function buildTagScript(code: string, site: TaggedSite): TagScript {
  const configuration = JSON.stringify({
    site: site.id,
    optIn: site.settings.consentMode === "opt-in",
    params: patternOf(clickIds, "utm_\\w+"),
    cookies: patternOf(browserIds, "_ga_\\w+"),
  });
  const text = `!function($CC){${code}}(${configuration});\n`;
  return {
    text,
    hash: hash("sha256", text).slice(0, 16),
    integrity: `sha384-${createHash("sha384").update(text).digest("base64")}`,
    gzip: gzipSync(text, { level: 9 }),
    brotli: brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
  };
}

/**
 * A pattern for the names in the tag. All names that end in "clid" are one alternative, and so are those that begin alike, because each
 * name costs bytes. The pattern may match more names than the lists have: the relay drops those.
 */
function patternOf(ids: readonly { name: string }[], families: string): string {
  const names = ids.map(({ name }) => name.replace(/^\w*clid$/, "\\w*clid").replace(/^(_ax|__o|_fb|_rdt_|gad_)\w+$/, "$1\\w+"));
  return [...new Set(names), families].join("|");
}

/** The lines that install the tag: `follows` always loads the newest, `pinned` this exact content. */
export function tagLines({ hash: name, integrity }: TagScript): { follows: string; pinned: string } {
  return {
    follows: `<script async src="/__cc/tag.js"></script>`,
    pinned: `<script async src="/__cc/tag.${name}.js" integrity="${integrity}" crossorigin="anonymous"></script>`,
  };
}

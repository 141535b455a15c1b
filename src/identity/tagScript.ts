// The tag as a site's pages get it: the built script with the site's configuration in front. One text per site, kept with
// its hash and its compressed forms until the configuration changes.

import { createHash, hash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
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

/** What of a site is in its tag. */
type Tagged = { id: string; settings: { consentMode: "opt-out" | "opt-in" } };

export function tagScripts(code: string): (site: Tagged) => TagScript {
  const made = new Map<string, TagScript>();
  return (site) => {
    const key = `${site.id} ${site.settings.consentMode}`;
    let script = made.get(key);
    if (!script) {
      if (made.size >= 1000) made.clear();
      script = wrap(code, site);
      made.set(key, script);
    }
    return script;
  };
}

export function wrap(code: string, site: Tagged): TagScript {
  const configuration = JSON.stringify({
    site: site.id,
    optIn: site.settings.consentMode === "opt-in",
    params: [...clickIds.map((id) => id.name), "utm_[a-z_]+"].join("|"),
    cookies: [...browserIds.map((id) => id.name), "_ga_[A-Z0-9]+"].join("|"),
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

/** The lines that install it: one that follows every change, one for this very content. */
export function tagLines({ hash: name, integrity }: TagScript): { follows: string; pinned: string } {
  return {
    follows: `<script async src="/__cc/tag.js"></script>`,
    pinned: `<script async src="/__cc/tag.${name}.js" integrity="${integrity}" crossorigin="anonymous"></script>`,
  };
}

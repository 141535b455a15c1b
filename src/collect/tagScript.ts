// The tag's code as it was built; what a site's pages get of it is made in identity/tagScript.ts.

import { readFileSync } from "node:fs";
import { packageFolder } from "../kernel/packageFolder.ts";

export class TagNotBuilt extends Error {
  constructor() {
    super("The browser tag is not built yet. Run: npm run build");
  }
}

export function readTag(): string {
  try {
    return readFileSync(new URL("dist/tag.js", packageFolder), "utf8");
  } catch {
    throw new TagNotBuilt();
  }
}

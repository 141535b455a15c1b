// Names the drawings of Mermaid blocks. scripts/drawDiagrams.ts makes them, so that the site needs no script. The name is a hash
// of the block, so the build fails for a block that was changed and not drawn again.

import { createHash } from "node:crypto";

export const themes = ["light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** Returns the path of a block's drawing in docs/. */
export const diagramFile = (block: string, theme: Theme) =>
  `diagrams/${createHash("sha256").update(block.trim()).digest("hex").slice(0, 12)}.${theme}.svg`;

export const diagramsIn = (markdown: string): string[] =>
  [...markdown.matchAll(/^```mermaid\n([^]*?)\n```$/gm)].map(([, block]) => block as string);

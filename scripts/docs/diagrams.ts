// Mermaid blocks of the documents and their drawings. scripts/drawDiagrams.ts makes the drawings; the site shows them, so that
// it needs no script. The name of a drawing is a hash of its block: the build notices a block that was not drawn again.

import { createHash } from "node:crypto";

export const themes = ["light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** The name of a block's drawing below docs/. */
export const diagramFile = (block: string, theme: Theme) =>
  `diagrams/${createHash("sha256").update(block.trim()).digest("hex").slice(0, 12)}.${theme}.svg`;

export const diagramsIn = (markdown: string): string[] =>
  [...markdown.matchAll(/^```mermaid\n([^]*?)\n```$/gm)].map(([, block]) => block as string);

// `npm run docs:diagrams` draws the ```mermaid blocks of all documents in a real browser, as docs/diagrams/HASH.{light,dark}.svg.
// The drawings are committed, so that a build needs neither a browser nor Mermaid. The block of the delivery states is made
// from their model first.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findChromium, launchChromium } from "../test/browser/launch.ts";
import { diagramFile, diagramsIn, themes, type Theme } from "./docs/diagrams.ts";
import { withStateDiagram } from "./docs/stateDiagram.ts";

const mermaidVersion = "12.3.0";
const colours: Record<Theme, Record<string, string>> = {
  light: {
    background: "#ffffff",
    primaryColor: "#eef4fb",
    primaryTextColor: "#1a2330",
    primaryBorderColor: "#7d9cc0",
    lineColor: "#5b6b7e",
    secondaryColor: "#f4f6f8",
    tertiaryColor: "#f8fafc",
    clusterBkg: "#f8fafc",
    clusterBorder: "#c9d4e0",
    edgeLabelBackground: "#ffffff",
    noteBkgColor: "#f4f6f8",
    noteBorderColor: "#c9d4e0",
  },
  dark: {
    background: "#12171e",
    primaryColor: "#1e2a3a",
    primaryTextColor: "#e3e9f0",
    primaryBorderColor: "#55779f",
    lineColor: "#8fa1b5",
    secondaryColor: "#1a222c",
    tertiaryColor: "#161d26",
    clusterBkg: "#161d26",
    clusterBorder: "#33455a",
    edgeLabelBackground: "#12171e",
    noteBkgColor: "#1a222c",
    noteBorderColor: "#33455a",
    noteTextColor: "#e3e9f0",
  },
};

/** Installs Mermaid on first use and not with the project, because only authors of diagrams need it. */
function mermaidScript(root: string): string {
  const folder = join(root, "node_modules/.cache/mermaid");
  const script = join(folder, "node_modules/mermaid/dist/mermaid.min.js");
  if (!existsSync(script)) {
    mkdirSync(folder, { recursive: true });
    const options = ["--no-save", "--no-audit", "--ignore-scripts", "--prefix", folder];
    execFileSync("npm", ["install", ...options, `mermaid@${mermaidVersion}`], { stdio: "inherit" });
  }
  return script;
}

/** Sets the size of a drawing to that of its view box; Mermaid makes it as wide as the page. */
function sized(svg: string): string {
  const [, width, height] = /viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
  return svg.replace(/<svg([^>]*?) width="100%"/, `<svg$1 width="${width}" height="${height}"`);
}

async function draw(root: string): Promise<void> {
  const docs = join(root, "docs");
  const documents = [
    join(root, "ARCHITECTURE.md"),
    ...readdirSync(docs, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join(docs, name)),
  ];
  const concepts = join(docs, "explanation/concepts.md");
  writeFileSync(concepts, withStateDiagram(readFileSync(concepts, "utf8")));
  const blocks = new Set(documents.flatMap((file) => diagramsIn(readFileSync(file, "utf8"))));
  const source = findChromium({ env: process.env, platform: process.platform, arch: process.arch });
  if ("missing" in source) throw new Error(source.missing);
  const browser = await launchChromium(source);
  const page = await browser.newPage();
  await page.setContent("<!doctype html><body></body>");
  await page.addScriptTag({ path: mermaidScript(root) });
  rmSync(join(docs, "diagrams"), { recursive: true, force: true });
  mkdirSync(join(docs, "diagrams"));
  for (const theme of themes) {
    await page.evaluate(
      `mermaid.initialize(${JSON.stringify({
        startOnLoad: false,
        theme: "base",
        fontFamily: "system-ui, sans-serif",
        htmlLabels: false,
        flowchart: {
          htmlLabels: false,
          curve: "basis",
          wrappingWidth: 520,
          rankSpacing: 32,
          nodeSpacing: 32,
        },
        state: { nodeSpacing: 30, rankSpacing: 40 },
        deterministicIds: true,
        themeVariables: { ...colours[theme], fontSize: "15px" },
      })})`,
    );
    for (const block of blocks) {
      const call = `mermaid.render("diagram", ${JSON.stringify(block)}).then(({ svg }) => svg)`;
      writeFileSync(join(docs, diagramFile(block, theme)), `${sized(String(await page.evaluate(call)))}\n`);
    }
  }
  await browser.close();
  console.log(`${blocks.size} diagrams drawn.`);
}

await draw(fileURLToPath(new URL("..", import.meta.url)));

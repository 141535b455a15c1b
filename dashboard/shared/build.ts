// Builds the scripts and styles of shared links to dist/dashboard/shared: a few kilobytes, without the dashboard's code.

import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const folder = new URL("./", import.meta.url);
const out = new URL("../../dist/dashboard/shared/", import.meta.url);

export async function buildShared(): Promise<void> {
  mkdirSync(out, { recursive: true });
  for (const name of ["open", "wall", "worker"]) {
    const bundled = await rolldown({
      input: fileURLToPath(new URL(`${name}.ts`, folder)),
      platform: "browser",
      logLevel: "warn",
    });
    const { output } = await bundled.generate({ format: "es", minify: true });
    await bundled.close();
    writeFileSync(new URL(`${name}.js`, out), output[0].code);
  }
  for (const file of ["report.css", "wall.css", "icon-192.png", "icon-512.png"])
    copyFileSync(new URL(file, folder), new URL(file, out));
  copyFileSync(new URL("../public/icon.svg", folder), new URL("icon.svg", out));
}

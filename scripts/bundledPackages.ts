// Records which packages a bundle contains, for the licence notices (notices.ts): a package that is copied into our files
// must be shipped with its licence.

import { mkdirSync, writeFileSync } from "node:fs";
import type { Plugin } from "rolldown";

export const listsFolder = new URL("../dist/packages/", import.meta.url);

/** A plugin for rolldown and vite that writes the folders of all packages in the bundle to dist/packages. */
export function listPackages(bundle: string): Plugin {
  return {
    name: "list-packages",
    generateBundle(_options, files) {
      const modules = Object.values(files).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      // Styles are written to separate files and are part of no chunk.
      const styles = [...this.getModuleIds()].filter((id) => /\.css(?:\?|$)/.test(id));
      const folders = [...modules, ...styles].flatMap((id) => packageFolderOf(id) ?? []);
      mkdirSync(listsFolder, { recursive: true });
      const list = [...new Set(folders)].toSorted();
      writeFileSync(new URL(`${bundle}.json`, listsFolder), `${JSON.stringify(list, null, 1)}\n`);
    },
  };
}

/** Returns a path below the project's folder: `node_modules/pg`, `node_modules/a/node_modules/@b/c`. */
function packageFolderOf(id: string): string | undefined {
  return /^.*?\/(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/?]+)\//.exec(id.replaceAll("\\", "/"))?.[1];
}

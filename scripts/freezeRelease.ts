// `npm run release:freeze` records this version in test/releases/VERSION.json: its schema, the hash of its migrations, and the
// columns that its code no longer uses. From then on test/releases.test.ts checks that its code runs on every later schema.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { releaseOf, releasesFolder, unusedColumns } from "../test/support/schema/releases.ts";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
const release = releaseOf(version, await unusedColumns());
mkdirSync(releasesFolder, { recursive: true });
writeFileSync(join(releasesFolder, `${version}.json`), `${JSON.stringify(release, null, 2)}\n`);
process.stdout.write(
  `${version}, schema ${release.schema}. Columns that it no longer uses: ${release.unused.join(", ") || "none"}.\n`,
);

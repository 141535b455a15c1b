// Orders the files of a test run. Those that took long the last time come first: one that began last would run alone while the
// other workers are idle. Files without a last time follow the list of slow files, then files that start whole relays come before
// units. Within a class the order is random by the seed that is printed, so that no file can depend on another having run before it.

import { createHash } from "node:crypto";
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { slow } from "./tiers.ts";

/** Files that took about as long are of one class; a new file counts as if it took this long. */
const classOf = (seconds: number) => Math.round(Math.log2(Math.max(1, seconds)));
const newSeconds = { slow: 40, test: 5, src: 1 };

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    if (files.length > 1) this.ctx.logger.log(`order of the files: --sequence.seed=${sequence.seed}`);
    const placed = files.map((file) => {
      const path = relative(root, file.moduleId);
      const last = this.ctx.cache.getTestSpecificationResult(file)?.duration;
      return {
        file,
        class: classOf(last === undefined ? guess(path) : last / 1000),
        lot: createHash("sha256").update(`${sequence.seed} ${path}`).digest("hex"),
      };
    });
    return placed.toSorted((a, b) => b.class - a.class || (a.lot < b.lot ? -1 : 1)).map(({ file }) => file);
  }
}

function guess(path: string): number {
  const place = slow.findIndex((one) => path.startsWith(one));
  if (place >= 0) return newSeconds.slow * (1 + (slow.length - place) / slow.length);
  return path.startsWith("test/") ? newSeconds.test : newSeconds.src;
}

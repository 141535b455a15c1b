// Orders the files of a test run. Files that start whole relays come first: they take long, and one that began last would run
// alone while the other workers are idle. Apart from that, the order is random by the seed that is printed, so that no file
// can depend on another having run before it.

import { createHash } from "node:crypto";
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

export default class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root, sequence } = this.ctx.config;
    if (files.length > 1) this.ctx.logger.log(`order of the files: --sequence.seed=${sequence.seed}`);
    const placed = files.map((file) => {
      const path = relative(root, file.moduleId);
      const lot = createHash("sha256").update(`${sequence.seed} ${path}`).digest("hex");
      return { file, place: `${path.startsWith("test/") ? 0 : 1} ${lot}` };
    });
    return placed.toSorted((a, b) => (a.place < b.place ? -1 : 1)).map(({ file }) => file);
  }
}

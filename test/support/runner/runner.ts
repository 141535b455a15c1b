// Runs the tests of one tier: of a file that has tests of both, only those are collected. The tier of a test follows from its
// file and from the title of its outermost group (tiers.ts).

import { relative } from "node:path";
import { TestRunner } from "vitest";
import { readTier, tierOf } from "./tiers.ts";

const tier = readTier(process.env["TEST_TIER"]);

export default class TierRunner extends TestRunner {
  override async importFile(path: string, source: Parameters<TestRunner["importFile"]>[1]): Promise<void> {
    await super.importFile(path, source);
    if (tier === null || source !== "collect") return;
    const file = relative(this.config.root, path);
    const { tasks } = TestRunner.getCurrentSuite();
    tasks.splice(0, tasks.length, ...tasks.filter(({ name }) => tierOf(file, name) === tier));
  }
}

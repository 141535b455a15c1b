import { afterAll, beforeAll, expect, test } from "vitest";
import { createNodes } from "../../test/support/nodes.ts";
import type { Config } from "../installation/config.ts";
import { createDirectory, type Directory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import { MachineDown } from "../store/engine/postgres/machines.ts";
import type { Store } from "../store/store.ts";
import { checkChannels } from "./channels.ts";
import { checkConnections } from "./connections.ts";
import { checkDatabase } from "./database.ts";
import type { AsyncFindings, StoreContext } from "./finding.ts";
import { checkSites } from "./sites.ts";

const now = Date.now();
let store: Store;
let close: () => Promise<void>;
let directory: Directory;

beforeAll(async () => {
  ({ store, close } = await createNodes("sqlite"));
  directory = createDirectory(store);
  for (const host of ["down.example", "up.example"]) await addSite({ store, directory }, host, { actor: "test", now });
});
afterAll(() => close());

/** The rows of one site and those of no site are on a machine that throws `failure`. */
function contextWith(failure: Error): StoreContext {
  const down = [...directory.sites()].find(({ hosts }) => hosts.includes("down.example"))?.id;
  const unlessDown = <Given extends [string, ...unknown[]], Result>(read: (...given: Given) => Promise<Result>) =>
    async function (...given: Given): Promise<Result> {
      if (given[0] === down || given[0] === "") throw failure;
      return read(...given);
    };
  const isMachineError = (error: unknown) => error instanceof MachineDown;
  return {
    now,
    directory,
    config: { store: { engine: "sqlite" } } as Config,
    store: {
      ...store,
      health: {
        ...store.health,
        isMachineError,
        lastEventAt: unlessDown((...given: Parameters<Store["health"]["lastEventAt"]>) => store.health.lastEventAt(...given)),
      },
      purge: { ...store.purge, readRun: () => Promise.reject(failure) },
      webhooks: {
        ...store.webhooks,
        list: unlessDown((...given: Parameters<Store["webhooks"]["list"]>) => store.webhooks.list(...given)),
      },
      keyUse: {
        ...store.keyUse,
        listLockouts: unlessDown((...given: Parameters<Store["keyUse"]["listLockouts"]>) => store.keyUse.listLockouts(...given)),
      },
      doctorQueries: {
        ...store.doctorQueries,
        countModes: unlessDown((...given: Parameters<Store["doctorQueries"]["countModes"]>) =>
          store.doctorQueries.countModes(...given),
        ),
      },
    },
  };
}
const checks: ((context: StoreContext) => AsyncFindings)[] = [checkDatabase, checkSites, checkConnections, checkChannels];
const textOf = async (context: StoreContext) =>
  (await Promise.all(checks.map((check) => Array.fromAsync(check(context))))).flat().map(({ what }) => what);

test("a machine of the database that is down is a finding for its sites, and the other sites are checked", async () => {
  const found = await textOf(contextWith(new MachineDown()));
  const unreached = "events get 503, because its machine of the database does not answer";
  expect(found.filter((what) => what.includes(unreached))).toEqual([`down.example: ${unreached}`]);
  expect(found).toContain("up.example: no visit was ever reported by the tag, so conversions are sent without click ids");
  expect(found).toContainEqual(expect.stringMatching(/^sqlite store answers/));
});

test("a check that fails for another reason is not taken for a machine that is down", async () => {
  await expect(textOf(contextWith(new Error("a defect")))).rejects.toThrow("a defect");
});

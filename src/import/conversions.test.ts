import { afterAll, expect, test } from "vitest";
import { newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { dayMs } from "../kernel/time.ts";
import { createDirectory } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import type { Cells } from "../tables/table.ts";
import { chooseColumns } from "./columns.ts";
import { importConversions } from "./conversions.ts";

const { store, close } = await createNodes("sqlite");
afterAll(close);
const now = Date.now();
const eventTime = new Date(now - dayMs).toISOString();
const leadId = "123456789012345";

type Options = { mapping?: Record<string, string>; defaults?: Record<string, string> };

/** Imports one row, and returns the lead id that is stored with it. */
async function importedLeadId(cells: Cells, { mapping = {}, defaults = {} }: Options = {}): Promise<string | null> {
  const siteId = await newSite(store);
  const directory = createDirectory(store);
  await directory.refresh();
  const row = { email: "lea@example.com", event: "qualified_lead", eventTime, ...cells };
  const chosen = chooseColumns("conversions", Object.keys(row), mapping, Object.keys(defaults));
  const outcomes = await importConversions([{ line: 2, bytes: 0, cells: row }], {
    id: siteId,
    store,
    site: () => findSite({ directory }, siteId),
    format: { mapping: chosen.mapping, defaults, rules: { timeZone: "UTC", dates: null, decimal: null }, delimiter: "," },
    now: () => now,
  });
  expect(outcomes).toMatchObject([{ status: "imported" }]);
  const [event] = await store.events.list(siteId, { limit: 1 });
  return event?.leadId ?? null;
}

test.each<[what: string, cells: Cells, options?: Options]>([
  ["its own name", { leadId }],
  ["Meta's name", { "Meta Lead ID": leadId, "Lead ID": "00Q5e00000AbCdEEAV" }],
  ["Facebook's name", { facebook_lead_id: leadId }],
  ["a name that --map chooses", { contact: leadId, "Lead ID": "of the CRM" }, { mapping: { leadId: "contact" } }],
  ["no column, and a constant", {}, { defaults: { leadId } }],
  ["blank cells, and a constant", { leadId: " " }, { defaults: { leadId } }],
])("the lead id is imported from a column with %s", async (_what, cells, options) => {
  expect(await importedLeadId(cells, options)).toBe(leadId);
});

test.each(["Lead ID", "lead_id", "LeadId", "leadID"])("a column %s of the CRM's ids is not read", async (name) => {
  expect(await importedLeadId({ [name]: "00Q5e00000AbCdEEAV" })).toBeNull();
});

test("a column of lead ids that --map leaves out is not read, whatever its name", async () => {
  expect(await importedLeadId({ leadId: "of the CRM" }, { mapping: { leadId: "" } })).toBeNull();
});

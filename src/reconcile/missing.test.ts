import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { readCell } from "../tables/columns.ts";
import { writeCsv } from "../tables/formulas.ts";
import { missingCells, missingColumns } from "./missing.ts";

const order = { hashed_email: "e".repeat(64), event: "purchase", value: 5, currency: "EUR", eventTime: "2026-11-18T00:00:00Z" };
const mapping = Object.fromEntries(missingColumns.map((name) => [name, name]));
const format = { mapping, defaults: {}, rules: { timeZone: "UTC", dates: null, decimal: null }, delimiter: "," };

test.each(["=1+1", "+49", "-1", "@cmd", "#1001", "'=x", "A-1001"])(
  "the order id %s is exported as no formula, and imported as it was",
  (orderId) => {
    const [cells = []] = parse(writeCsv([missingCells({ ...order, orderId })]));
    const exported = cells[missingColumns.indexOf("orderId")] ?? "";
    expect(exported).not.toMatch(/^[=+\-@]/);
    const row = Object.fromEntries(missingColumns.map((name, i) => [name, cells[i]]));
    // A text that begins with an apostrophe and a sign loses it: a spreadsheet would write the same.
    expect(readCell(row, "orderId", format)).toBe(orderId.replace(/^'(?==)/, ""));
  },
);

import { expect, test } from "vitest";
import { sha256Of } from "../../test/support/sha256.ts";
import type { RowFormat } from "../tables/columns.ts";
import { chooseOrderColumns, readOrder } from "./readOrder.ts";
import { english } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);

function read(cells: Record<string, string>, rules: Partial<RowFormat["rules"]> = {}) {
  const { mapping } = chooseOrderColumns(Object.keys(cells), {}, []);
  const format = { mapping, defaults: {}, rules: { timeZone: "UTC", dates: null, decimal: null, ...rules }, delimiter: "," };
  return readOrder(cells, format, { siteId: "s1", now });
}

test("an export of a shop is read by the names of its columns, and its email is stored as a hash alone", () => {
  const order = read(
    {
      Name: "#1001",
      "Created at": "2026-11-01 10:00",
      Total: "1,234.50",
      Currency: "eur",
      "Financial Status": "partially_refunded",
      Email: " Ada@Example.com ",
    },
    { timeZone: "Europe/Berlin" },
  );
  expect(order).toEqual({
    siteId: "s1",
    id: "=1001",
    orderId: "#1001",
    time: Date.UTC(2026, 10, 1, 9),
    value: 1234.5,
    currency: "EUR",
    status: "paid",
    emailSha256: sha256Of("ada@example.com"),
    listedAt: now,
  });
});

test("orders without an id are told apart by person, time and value, and an address in an id is masked", () => {
  const fields = { time: "2026-11-01T10:00:00Z", email: "ada@example.com", value: "5" };
  const [one, same, other] = [read(fields), read(fields), read({ ...fields, value: "6" })];
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
  expect(one).toMatchObject({ orderId: null });
  expect(JSON.stringify(read({ orderId: "order of ada@example.com", time: "2026-11-01" }))).not.toContain("ada@");
});

test.each([
  ["Paid", "paid"],
  ["on-hold", "pending"],
  ["FAILED", "pending"],
  ["Refunded", "refunded"],
  ["Canceled", "cancelled"],
  ["voided", "cancelled"],
])("the status %j is %s", (text, status) => {
  expect(read({ orderId: "1", time: "2026-11-01", status: text })).toMatchObject({ status });
});

test.each([
  [{ orderId: "", time: "2026-11-01", email: "" }, "the row has neither an orderId nor an email"],
  [{ orderId: "1", time: "soon" }, "time is not a time that can be read; write it like 2026-10-31T12:30:00Z"],
  [{ orderId: "1", time: "2026-11-17" }, "time is in the future"],
  [{ orderId: "1", time: "2026-11-01", currency: "EURO" }, "currency is not an ISO 4217 code like EUR"],
  [{ orderId: "1", time: "2026-11-01", value: "€ 5" }, "value names another currency than the row has (default USD)"],
  [
    { orderId: "1", time: "2026-11-01", status: "lost" },
    "status is not one of paid, pending, refunded, cancelled or a usual word for them",
  ],
  [{ orderId: "1", time: "2026-11-01", email: "nobody" }, "email is not an email address"],
  [{ orderId: "1", time: "2026-11-01", hashed_email: "abc" }, "hashed_email must be 64 hex characters"],
  [{ orderId: "x".repeat(257), time: "2026-11-01" }, "orderId is longer than 256 characters"],
  [{ orderId: "a\0b", time: "2026-11-01" }, "orderId has a character that cannot be stored"],
])("a row is refused with one sentence: %j", (cells, reason) => {
  const found = read(cells);
  expect(typeof found === "string" && english(found)).toBe(reason);
});

test("a file without an order id or email, or without a time, is refused before any row", () => {
  expect(() => chooseOrderColumns(["total", "created at"], {}, [])).toThrow("orderId (or email)");
  expect(() => chooseOrderColumns(["order id"], {}, [])).toThrow("No column was found for time");
});

import { expect, test } from "vitest";
import { nameOf, timeText } from "./message.ts";

test("a connection is named by its account, or by its id where only the hash of the account is stored", () => {
  expect(nameOf({ platform: "meta", account: "1234567890", id: "c1" })).toBe("Meta (1234567890)");
  expect(nameOf({ platform: "webhook", account: "a".repeat(64), id: "c2" })).toBe("Webhook (c2)");
  expect(nameOf({ platform: "webhook", account: "", id: "c3" })).toBe("Webhook (c3)");
});

test("times are shown in the site's time zone, with its name", () => {
  const at = Date.UTC(2026, 10, 15, 23, 5);
  expect(timeText(at, "Europe/Berlin")).toBe("2026-11-16 00:05 Europe/Berlin");
  expect(timeText(at, "UTC")).toBe("2026-11-15 23:05 UTC");
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { alertKinds } from "../kernel/event.ts";
import { timeText } from "../kernel/text.ts";
import type { Site } from "../sites/directory.ts";
import type { Alert } from "../store/statistics/alerts.ts";
import { messageOf, nameOf } from "./message.ts";

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

const list = readFileSync(new URL("../../dashboard/pages.ts", import.meta.url), "utf8");
const pages = [...list.matchAll(/path: "([^"]+)"/g)].map(([, path]) => path);

test.each(alertKinds)("the message about %j names a page of the dashboard that exists", (kind) => {
  const connection = { id: "c1", platform: "meta", account: "1", settings: { access_token: "x" } };
  const site = {
    id: "s1",
    hosts: ["shop.example.com"],
    connections: [connection],
    sources: [],
    settings: { timeZone: "UTC" },
  };
  for (const subject of ["c1", "other"]) {
    const alert = { kind, subject, text: "", beganAt: 0, endedAt: null } as unknown as Alert;
    const { page } = messageOf(site as unknown as Site, alert, "began");
    const [, path = ""] = /^\/dashboard\/sites\/s1\/(.+)$/.exec(page) ?? [];
    expect(["integrations/meta", ...pages]).toContain(path);
  }
});

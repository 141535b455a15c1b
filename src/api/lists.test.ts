import { describe, expect, test } from "vitest";
import { cellsOf, isFormula } from "../../test/support/spreadsheet.ts";
import { toCsv } from "./lists.ts";

/** Writes one row between two harmless cells. */
async function csvOf(text: string): Promise<string> {
  const columns = [
    { title: "time", cell: () => "2026-11-16" },
    { title: "text", cell: () => text },
    { title: "id", cell: () => 7 },
  ];
  const read = async () => ({ rows: [{}], next: null });
  return (await Array.fromAsync(toCsv(columns, { siteId: "s", timeZone: "UTC" }, read))).slice(1).join("");
}

const hostileTexts = [
  "=2+2",
  " =2+2",
  '"=2+2',
  "HeadlessChrome;=cmd|' /C calc'!A0;x",
  "https://shop.example/a;=2+2;b",
  "a; +1",
  'a;"=1&',
  'a;" "=1&',
  "a\t@SUM(A1)",
  "a\n=2+2",
  "a\r\n-2+3",
  "a, b\n;\n=2+2",
  ";=1;=2;=3",
  "a;＝1+1",
];

describe("a cell of a CSV file", () => {
  for (const separator of [",", ";", "\t"])
    test.each(hostileTexts)(`%j begins no formula where cells end at ${JSON.stringify(separator)}`, async (text) => {
      expect(cellsOf(await csvOf(text), separator).filter(isFormula)).toEqual([]);
    });

  test.each(["a-b", "a = b", "1 + 1", "Mozilla/5.0 (X11; Linux) -", 'say "-"', "A-1;B-2"])(
    "%j is written as it is",
    async (text) => {
      expect(cellsOf(await csvOf(text), ",")).toContain(text);
    },
  );
});

test("times are in the time zone of the file, as spreadsheets read them", async () => {
  const rows = [Date.UTC(2026, 6, 1, 22, 30, 5), Date.UTC(2026, 11, 31, 23, 0), null];
  const columns = [{ title: "received", at: (at: number | null) => at }];
  const csv = await Array.fromAsync(
    toCsv(columns, { siteId: "s", timeZone: "Europe/Berlin" }, async () => ({ rows, next: null })),
  );
  expect(csv.join("").trim().split("\n")).toEqual(["received (Europe/Berlin)", "2026-07-02 00:30:05", "2027-01-01 00:00:00"]);
});

test("the file of a site is written in turn with those of another one, however many it asks for", async () => {
  const reads: string[] = [];
  const write = async (siteId: string, pages: number) => {
    const read = async (cursor: number | null) => {
      reads.push(siteId);
      const page = (cursor ?? 0) + 1;
      return { rows: [page], next: page < pages ? page : null };
    };
    await Array.fromAsync(toCsv([{ title: "page", cell: (row: number) => row }], { siteId, timeZone: "UTC" }, read));
  };
  await Promise.all([...Array.from({ length: 20 }, () => write("busy", 5)), write("quiet", 5)]);
  expect(reads.lastIndexOf("quiet")).toBeLessThan(15);
});

import { describe, expect, test } from "vitest";
import { toCsv } from "./lists.ts";

/** Writes one row between two harmless cells. */
async function csvOf(text: string): Promise<string> {
  const columns = [
    { title: "time", cell: () => "2026-11-16" },
    { title: "text", cell: () => text },
    { title: "id", cell: () => 7 },
  ];
  const read = async () => ({ rows: [{}], next: null });
  return (await Array.fromAsync(toCsv(columns, read))).slice(1).join("");
}

/** Splits a file as a spreadsheet does: a quote counts only where it begins a cell. */
function cellsOf(csv: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < csv.length; at++) {
    const sign = csv[at] as string;
    if (sign === '"' && isQuoted && csv[at + 1] === '"') cell += csv[++at];
    else if (sign === '"' && (isQuoted || cell === "")) isQuoted = !isQuoted;
    else if (!isQuoted && (sign === separator || sign === "\n" || sign === "\r")) {
      cells.push(cell);
      cell = "";
    } else cell += sign;
  }
  return [...cells, cell];
}

const isFormula = (cell: string) => /^\s*[=+\-@＝＋－＠]/.test(cell);

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

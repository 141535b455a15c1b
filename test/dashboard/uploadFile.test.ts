import { expect, test } from "vitest";
import { partsOf as cut, readFile, rowsOf } from "../../dashboard/common/files.ts";

const partsOf = (...args: Parameters<typeof cut>) => cut(...args).map(({ text }) => text);

test("a long CSV is cut between rows, also where a row has several lines, and each part has the header", () => {
  const rows = ['1,"two\nlines"\n', "2,b\n", '3,"a ""quote"""\n', "4,d"];
  const parts = partsOf(`id,note\n${rows.join("")}`, 20);
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts) expect(part.startsWith("id,note\n")).toBe(true);
  expect(parts.map((part) => part.slice("id,note\n".length)).join("")).toBe(rows.join(""));
});

test("a long NDJSON is cut between lines", () => {
  const text = '{"a":"\\"x"}\n{"a":2}\n{"a":3}\n';
  const parts = partsOf(text, 10);
  expect(parts).toHaveLength(3);
  expect(parts.join("")).toBe(text);
});

test("a short file is one part, and a file with a header alone too", () => {
  expect(partsOf("id\n1\n")).toEqual(["id\n1\n"]);
  expect(partsOf("id")).toEqual(["id"]);
  expect(partsOf("")).toEqual([""]);
});

test("each part says how many lines of the file are before its rows", () => {
  const text = 'id,note\n1,"two\nlines"\n2,b\n3,c\n';
  expect(cut(text, 14)).toEqual([
    { text: 'id,note\n1,"two\nlines"\n', skippedLines: 0 },
    { text: "id,note\n2,b\n3,c\n", skippedLines: 2 },
  ]);
});

test("empty lines before the header are not taken for it", () => {
  const text = "\r\n\nid,note\n1,a\n\n2,b\n";
  expect(cut(text, 5)).toEqual([
    { text: "\r\n\nid,note\n1,a\n\n", skippedLines: 0 },
    { text: "\r\n\nid,note\n2,b\n", skippedLines: 2 },
  ]);
  expect([...rowsOf(text)]).toEqual([
    { line: 3, row: "id,note" },
    { line: 4, row: "1,a" },
    { line: 6, row: "2,b" },
  ]);
  expect([...rowsOf("\r\r\nid\r\r\n\r\r\n \r\r\n1\r")]).toEqual([
    { line: 2, row: "id" },
    { line: 4, row: " " },
    { line: 5, row: "1" },
  ]);
});

test("a file whose rows end with a carriage return alone is cut between rows, too", async () => {
  const { text } = await readFile(new File(["id,note\r1,a\r2,b\r"], "rows.csv"));
  expect(cut(text, 5)).toEqual([
    { text: "id,note\n1,a\n", skippedLines: 0 },
    { text: "id,note\n2,b\n", skippedLines: 1 },
  ]);
  const mixed = 'id,note\n1,"two\rlines"\n';
  expect((await readFile(new File([mixed], "rows.csv"))).text).toBe(mixed);
});

test("a line of spaces before the header is not taken for it", () => {
  const text = "  \nid,note\n1,a\n  \n2,b\n";
  expect(partsOf(text, 5)).toEqual(["  \nid,note\n1,a\n", "  \nid,note\n  \n", "  \nid,note\n2,b\n"]);
  expect([...rowsOf(text)]).toEqual([
    { line: 2, row: "id,note" },
    { line: 3, row: "1,a" },
    { line: 4, row: "  " },
    { line: 5, row: "2,b" },
  ]);
});

test("rows are found by the line on which they begin, as the relay counts them", () => {
  expect([...rowsOf('id,note\r\n1,"two\nlines"\r\n2,b')]).toEqual([
    { line: 1, row: "id,note" },
    { line: 2, row: '1,"two\nlines"' },
    { line: 4, row: "2,b" },
  ]);
});

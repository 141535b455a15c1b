import { expect, test } from "vitest";
import { partsOf } from "../../dashboard/scenes/reconciliation/uploadFile.ts";

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

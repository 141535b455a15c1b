import { describe, expect, test } from "vitest";
import { createTable } from "./source.ts";
import { english } from "../kernel/messages/message.ts";

/** Yields pieces of `size` bytes, so that characters and quotes are split. */
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(content: string | Buffer, size = 7) {
  const bytes = Buffer.from(content);
  const table = await createTable(pieces(bytes, size), "file");
  const rows = [];
  for await (const row of table.rows) rows.push(row);
  return { ...table, rows, size: bytes.length };
}

const describeRows = (rows: readonly { line: number }[]) =>
  rows.map(({ line, ...row }) => [
    line,
    "cells" in row ? Object.values(row.cells as object) : english(String((row as { fault?: string }).fault)),
  ]);

describe("CSV", () => {
  test.each([",", ";", "\t"])("CSV is read with the delimiter %j, a byte order mark and quoted line breaks", async (sign) => {
    const text = `\uFEFFname${sign}"the ${sign} note"\r\nÄda${sign}"two\nlines, ""quoted"""\r\n\r\nBob${sign}x\n`;
    const { format, columns, rows, size } = await read(text);
    expect({ format, columns }).toEqual({ format: "csv", columns: ["name", `the ${sign} note`] });
    expect(describeRows(rows)).toEqual([
      [2, ["Äda", 'two\nlines, "quoted"']],
      [5, ["Bob", "x"]],
    ]);
    // All but the byte order mark.
    expect(rows.at(-1)?.bytes).toBe(size - 3);
  });

  test("lines end with \\n: a \\r in a cell, or a second one at the end of a row, begins none", async () => {
    const { headerLines, rows } = await read(
      '"a\r\nz",b\r\n1,"two\r\nlines"\r\n2\r\n3,"x\ry"\r\r\n\r\n4,"\r\r\n"\r\n5,"z\r"\r\n6,c',
    );
    expect([headerLines, rows.map(({ line }) => line)]).toEqual([2, [3, 5, 6, 8, 10, 11]]);
  });

  test("lines of spaces before the header are not taken for it", async () => {
    const { columns, headerLines, rows } = await read("\r\n  \r\n\nid,note\r\n1,a\r\n  \r\n2,b\n");
    expect([columns, headerLines]).toEqual([["id", "note"], 4]);
    expect(describeRows(rows)).toEqual([
      [5, ["1", "a"]],
      [6, "the row has 1 cells, the header 2"],
      [7, ["2", "b"]],
    ]);
    // Spaces include tabs, but a line of empty cells is a header without names.
    expect((await read("\t \t\nid\tnote\n1\ta\n")).columns).toEqual(["id", "note"]);
    expect((await read(" , \n1,a\n")).columns).toEqual(["column 1", "column 2"]);
  });

  test("the delimiter is found where names of columns have line breaks, delimiters and quotes", async () => {
    const { columns, delimiter } = await read('"Order\nID, ""new""";5" pipe;"a,b,c"\n1;2;"x"\n');
    expect([delimiter, columns]).toEqual([";", ['Order\nID, "new"', '5" pipe', "a,b,c"]]);
  });

  test("a stray quote is read as a character, and only rows of the wrong length are refused", async () => {
    const { rows } = await read('a,b\n1,5" pipe\n2\n3,4,5\n6,7');
    expect(describeRows(rows)).toEqual([
      [2, ["1", '5" pipe']],
      [3, "the row has 1 cells, the header 2"],
      [4, "the row has 3 cells, the header 2"],
      [5, ["6", "7"]],
    ]);
  });

  test("a quote that is never closed is refused, however long the rest of the file is", async () => {
    await expect(read('a,b\n1,"2\n3,4\n')).rejects.toThrow(/quote that opens at line .* never closed/);
    await expect(read(`a,b\n1,"2\n${"3,4\n".repeat(30_000)}`, 4096)).rejects.toThrow(/longer than 64 KiB/);
  });
});

describe("NDJSON", () => {
  test("NDJSON numbers keep all digits, and only lines that are not objects are refused", async () => {
    const { format, columns, rows } = await read('{"id":12345678901234567890,"v":1.50}\n\nnope\n[1]\n{"w":null}');
    expect({ format, columns }).toEqual({ format: "ndjson", columns: ["id", "v", "w"] });
    expect(describeRows(rows)).toEqual([
      [1, ["12345678901234567890", "1.50"]],
      [3, "the row is not valid JSON"],
      [4, "the row is not a JSON object"],
      [5, [null]],
    ]);
  });

  test("an NDJSON line that is too long is refused, and the next lines are read", async () => {
    const { rows } = await read(`{"a":1}\n{"b":"${"x".repeat(1_000_000)}"}\n{"c":2}\n`, 65_536);
    expect(describeRows(rows)).toEqual([
      [1, ["1"]],
      [2, "the row is longer than 64 KiB"],
      [3, ["2"]],
    ]);
  });
});

describe("encoding", () => {
  test("a file that is not UTF-8, or is empty, is refused", async () => {
    await expect(read(Buffer.from("name\nÄda\n", "latin1"))).rejects.toThrow(/not UTF-8/);
    await expect(read(Buffer.from("\uFEFFname\nAda\n", "utf16le"))).rejects.toThrow(/UTF-16/);
    await expect(read(Buffer.from([0x61, 0x0a, 0xc3]))).rejects.toThrow(/not UTF-8/);
    await expect(read("  \n")).rejects.toThrow("file is empty.");
  });
});

import { expect, test } from "vitest";
import { say } from "../kernel/messages/message.ts";
import { readWhole, writeAnswer, writeInSlices, writePieces } from "./answer.ts";

async function* numbers(count: number, onRead: (n: number) => void = () => {}): AsyncGenerator<{ n: number; of: unknown }> {
  for (let n = 0; n < count; n += 1) {
    onRead(n);
    yield { n, of: n === 1 ? numbers(0) : say("no_such", { what: "site" }) };
  }
}

test("an answer with long lists is one JSON document with English sentences, over HTTP and in process", async () => {
  const answer = () => ({ name: "a", list: numbers(3), none: numbers(0), last: null });
  const whole = {
    name: "a",
    list: [
      { n: 0, of: "There is no such site." },
      { n: 1, of: [] },
      { n: 2, of: "There is no such site." },
    ],
    none: [],
    last: null,
  };
  expect(JSON.parse((await Array.fromAsync(writePieces(answer()))).join(""))).toEqual(whole);
  expect(await readWhole(answer())).toEqual(whole);
});

test("an item of a long list is read when those before it are written", async () => {
  let read = -1;
  let written = 0;
  for await (const piece of writePieces({ list: numbers(50, (n) => (read = n)) })) {
    if (piece.includes('"n":')) written += 1;
    expect(read - written).toBeLessThan(1);
  }
  expect(written).toBe(50);
});

test("an answer that is written in slices is the same, with its messages", async () => {
  const items = Array.from({ length: 500 }, (_, n) => ({
    n,
    why: n % 2 ? say("no_such", { what: `site ${n}` }) : null,
    none: undefined,
  }));
  const answers = [
    {},
    { items, next: null, none: undefined },
    { site: say("no_such", { what: "site" }), empty: [], nested: { items } },
  ];
  for (const answer of answers) expect(await writeInSlices("s", answer)).toBe(writeAnswer(answer));
});

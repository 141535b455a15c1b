import { expect, test } from "vitest";
import { ulid } from "../../kernel/ids.ts";
import { hourMs } from "../../kernel/time.ts";
import type { Source } from "../../sites/directory.ts";
import type { SourceShape } from "../../store/sources/sourceRequests.ts";
import { observeSources } from "./observer.ts";

test.each(["ada@customers.example", `${"x".repeat(85)} ada@customers.example`])(
  "an address in the kind of event is masked in the shape too: %s",
  async (type) => {
    const shapes: SourceShape[] = [];
    const observer = observeSources({
      store: {
        inboundCounts: { save: () => Promise.resolve() } as never,
        sourceRequests: {
          add: () => Promise.resolve(),
          addShape: (shape: SourceShape) => Promise.resolve(void shapes.push(shape)),
        } as never,
      },
      writer: "one",
      newId: ulid,
      onDefect: (error) => {
        throw error;
      },
      pollMs: 60_000,
    });
    const source = { siteId: "site", id: "source" } as Source;
    const body = { kind: type, "ada@customers.example": 1 };
    observer.addShape(source, { type, body, bytes: Buffer.from("{}"), headers: {}, settings: {} }, Date.now());
    await observer.stop();
    expect(shapes).toHaveLength(1);
    expect(JSON.stringify(shapes)).not.toMatch(/ada@|customers\.e/);
    expect(shapes[0]?.type.length).toBeLessThanOrEqual(100);
  },
);

test("a request that waits is counted once, by what becomes of it", async () => {
  const counted: string[] = [];
  const listed: unknown[] = [];
  const observer = observeSources({
    store: {
      inboundCounts: {
        save: (_writer: string, batch: { kind: string }[]) =>
          Promise.resolve(void counted.push(...batch.map(({ kind }) => kind))),
      } as never,
      sourceRequests: { add: (some: unknown[]) => Promise.resolve(void listed.push(...some)) } as never,
    },
    writer: "one",
    newId: ulid,
    onDefect: (error) => {
      throw error;
    },
    pollMs: 60_000,
  });
  const source = { siteId: "site", id: "src" } as Source;
  const refund = { type: "refund", deliveryId: null, eventId: null, detail: null };
  observer.addResults(source, [{ ...refund, outcome: "waiting", reason: "other refunds" }], Date.now());
  observer.countLookedUp(source, "accepted", Date.now());
  await observer.stop();
  expect(counted).toEqual(["source:src:accepted"]);
  // Its row is written with the wait.
  expect(listed).toEqual([]);
});

test("a site whose requests cannot be written keeps those of no other site from being listed", async () => {
  const listed: string[] = [];
  const shapes: string[] = [];
  const refuse = ({ siteId }: { siteId: string }) => {
    if (siteId === "down") throw new Error("its machine does not answer");
  };
  const observer = observeSources({
    store: {
      inboundCounts: { save: () => Promise.resolve() } as never,
      sourceRequests: {
        add: async (some: { siteId: string }[]) => {
          some.forEach(refuse);
          listed.push(...some.map(({ siteId }) => siteId));
        },
        addShape: async (shape: SourceShape) => {
          refuse(shape);
          shapes.push(shape.siteId);
        },
      } as never,
    },
    writer: "one",
    newId: ulid,
    onDefect: () => {},
    pollMs: 60_000,
  });
  for (const siteId of ["down", "up"]) {
    const source = { siteId, id: siteId } as Source;
    const result = { type: "sale", deliveryId: null, eventId: null, detail: null, reason: null };
    observer.addResults(source, [{ ...result, outcome: "accepted" }], Date.now());
    observer.addShape(source, { type: "sale", body: {}, bytes: Buffer.from("{}"), headers: {}, settings: {} }, Date.now());
  }
  await observer.stop();
  expect(listed).toEqual(["up"]);
  expect(shapes).toEqual(["up"]);
});

test("a clock that ran ahead and is corrected delays the next shape of a source by no more than a few seconds", async () => {
  const shapes: number[] = [];
  const observer = observeSources({
    store: {
      inboundCounts: {} as never,
      sourceRequests: { addShape: async ({ at }: SourceShape) => void shapes.push(at) } as never,
    },
    writer: "one",
    newId: ulid,
    onDefect: (error) => expect.unreachable(String(error)),
    pollMs: 60_000,
  });
  const source = { siteId: "site", id: "source" } as Source;
  const now = Date.now();
  const times = [now + hourMs, now + hourMs + 1, now, now + 1];
  for (const at of times)
    observer.addShape(source, { type: "sale", body: {}, bytes: Buffer.from("{}"), headers: {}, settings: {} }, at);
  await observer.stop();
  expect(shapes).toEqual([now + hourMs, now]);
});

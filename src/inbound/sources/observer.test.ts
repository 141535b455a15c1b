import { expect, test } from "vitest";
import { ulid } from "../../kernel/ids.ts";
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

import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { readSourceBody } from "../body.ts";
import { withMapping } from "../customRules.ts";
import { examplesOf } from "../examples.ts";
import type { Example } from "../example.ts";
import { ignoreReasons } from "../../kernel/event.ts";
import { settingsOf, withKindDefaults, type Kind } from "../kind.ts";
import { compileKind, runKind, type Outcome } from "../run.ts";
import { shapeOf } from "../shape.ts";
import { kinds } from "./index.ts";

const isClickId = (name: string) => (/^(?:gclid|fbclid|msclkid)$/i.test(name) ? name.toLowerCase() : undefined);

async function run(kind: Kind, { headers = {}, settings = {}, body }: Example): Promise<Outcome[]> {
  const all = withKindDefaults(kind, settings);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const read = await readSourceBody(
    Buffer.from(text),
    headers["content-type"] ?? "application/json",
    kind.bodies,
    kind.jsonFields,
  );
  return runKind(compileKind(withMapping(kind, all)), { headers, body: read }, all, isClickId);
}

describe.each(kinds.map((kind) => [kind.id, kind] as const))("the kind %s", (id, kind) => {
  const examples = examplesOf(id);

  test("has examples of which one is a conversion", () => {
    expect(examples.some(({ outcomes }) => outcomes.some(({ is }) => is === "conversion"))).toBe(true);
  });

  test.each(examples.map((example) => [example.name, example] as const))("%s", async (_name, example) => {
    const found = await run(kind, example);
    expect(found.map(({ is }) => is)).toEqual(example.outcomes.map(({ is }) => is));
    // The first example of a kind is whole; the others show what matters.
    for (const [i, { fields, ...wanted }] of example.outcomes.entries()) {
      expect(found[i]).toMatchObject(wanted);
      if (!fields) continue;
      const one = found[i] as Extract<Outcome, { fields: unknown }>;
      if (example === examples[0]) expect(one.fields).toEqual(fields);
      else expect(one.fields).toMatchObject(fields);
    }
  });

  test.runIf(kind.deliveryTime)("says when a delivery was made, the same in every repeat", async () => {
    const [example] = examples;
    if (!example) throw new Error("the kind has no example");
    for (const outcome of [...(await run(kind, example)), ...(await run(kind, example))])
      expect(outcome).toMatchObject({ deliveredAt: expect.stringMatching(/^2026-\d\d-\d\dT\d\d:\d\d:\d\d$/) });
  });

  test("declares settings once, with defaults among their choices", () => {
    const settings = settingsOf(kind);
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length);
    for (const { choices, default: value } of settings) if (choices) expect(choices).toContain(value);
    expect(kind.guide.steps.join(" ")).toContain("ADDRESS");
    expect(kind.guide.retries.length).toBeGreaterThan(0);
  });

  test("changed bodies give outcomes of the closed set, and never an exception", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...examples),
        fc.array(changes, { minLength: 1, maxLength: 6 }),
        async (example, changed) => {
          const body = typeof example.body === "string" ? mutateText(example.body, changed) : mutate(example.body, changed);
          const outcomes = await run(kind, { ...example, body });
          expect(outcomes.length).toBeGreaterThan(0);
          for (const one of outcomes) {
            if (one.is === "ignored") expect(ignoreReasons).toContain(one.reason);
            else for (const value of Object.values(one.fields)) expect(["string", "number", "object"]).toContain(typeof value);
          }
          expect(shapeOf(body).length).toBeLessThanOrEqual(300);
        },
      ),
      { numRuns: 200 },
    );
  });
});

test.each([
  ["stripe", "the refund of a renewal that the source leaves out", null],
  ["lemonsqueezy", "the refund of a renewal that the source leaves out", null],
  ["chargebee", "the refund of a renewal that the source leaves out", "ada@example.com"],
  ["woocommerce", "an order with two partial refunds: the order again, and each refund", "ada@example.com"],
  ["woocommerce", "a cancelled order that was paid", "ada@example.com"],
])(
  "a refund whose sale may not have been counted needs its order, and names the person where others may number orders alike: %s, %s",
  async (id, name, email) => {
    const kind = kinds.find((one) => one.id === id) ?? expect.unreachable();
    const example = examplesOf(id).find((one) => one.name === name) ?? expect.unreachable();
    const refunds = (await run(kind, example)).filter(({ is }) => is === "refund");
    expect(refunds.length).toBeGreaterThan(0);
    for (const refund of refunds) {
      expect(refund).toMatchObject({ fields: { orderId: expect.any(String) } });
      if (email === null) expect(refund).not.toHaveProperty("fields.email");
      else expect(refund).toMatchObject({ needsOrder: true, fields: { email } });
    }
  },
);

type Change = { at: number; to: unknown };
const changes: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(1000),
  to: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom(null, [], {}, "", "0", -1, 1e308, "__proto__", "constructor", "\u0000", "ü".repeat(600), undefined),
  ),
});

/** Replaces values at any place of a copy. */
function mutate(body: unknown, changed: readonly Change[]): unknown {
  const copy: unknown = structuredClone(body);
  for (const { at, to } of changed) {
    const places: { holder: Record<string, unknown>; key: string }[] = [];
    const walk = (value: unknown) => {
      if (typeof value !== "object" || value === null) return;
      for (const key of Object.keys(value)) {
        places.push({ holder: value as Record<string, unknown>, key });
        walk((value as Record<string, unknown>)[key]);
      }
    };
    walk(copy);
    const place = places[at % Math.max(1, places.length)];
    if (place) place.holder[place.key] = to;
  }
  return copy;
}

function mutateText(body: string, changed: readonly Change[]): string {
  return changed.reduce((text, { at, to }) => {
    const from = at % text.length;
    return text.slice(0, from) + (JSON.stringify(to) ?? "").slice(0, 20) + text.slice(from + (at % 5));
  }, body);
}

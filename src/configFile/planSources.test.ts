// Sources in a configuration file: added, changed, paused, refused and exported, without their addresses.

import { expect, test } from "vitest";
import { configurationOf } from "../../test/support/configurationFile.ts";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { Fault } from "../kernel/refusal.ts";
import { createDirectory } from "../sites/directory.ts";
import { applyFile } from "./apply.ts";
import { diffText } from "./diff.ts";
import { BadFile } from "./document.ts";
import { exportConfiguration, toYaml } from "./export.ts";
import { planFile } from "./plan.ts";

const fileOf = (sources: string) => `
version: 1
sites:
  - hosts: [shop.example.com]
    sources:
${sources}`;

const stripe = `      - kind: stripe
        settings:
          signing_secret: \${STRIPE_SECRET}
          invoices: renewals
      - kind: custom
        name: Own shop
        settings:
          email: customer.email
          when: status = "paid"
        paused: true
`;

test("sources of a file are added, changed and exported, and show no secret", async () => {
  const store = await createAt(await newLocation("sqlite"));
  const directory = createDirectory(store);
  await directory.refresh();
  const at = Date.UTC(2026, 10, 15);
  const context = configurationOf(store, directory, at);
  const file = (sources: string, secret = "whsec_one") => ({
    name: "cleancast.yaml",
    text: fileOf(sources),
    lookup: { variable: () => secret, file: () => new Fault("no such file.") },
  });
  const apply = (sources: string, { secret = "whsec_one", prune = false } = {}) =>
    applyFile(context, file(sources, secret), {
      prune,
      owner: "one",
      now: () => at,
      elapsed: () => 0,
      confirm: async () => {},
    });
  const sources = () => directory.site(directory.host("shop.example.com")?.siteId ?? "")?.sources ?? [];
  try {
    const { notes } = await apply(stripe);
    expect(notes).toHaveLength(2);
    expect(notes.join()).toContain("cleancast source show");
    expect(sources().map(({ name, kind, state }) => [name, kind, state])).toEqual(
      expect.arrayContaining([
        ["Stripe", "stripe", "active"],
        ["Own shop", "custom", "paused"],
      ]),
    );
    expect((await planFile(context, file(stripe), { prune: true })).changes).toEqual([]);

    const changed = stripe.replace("renewals", "none").replace("paused: true", "paused: false");
    expect(diffText(await planFile(context, file(changed, "whsec_two"), { prune: false })))
      .toBe(`~ source "Stripe" of shop.example.com
    ~ signing_secret  (secret) → changed
    ~ invoices        renewals → none
~ source "Own shop" of shop.example.com
    ~ paused  true → false`);
    const [address] = sources().map(({ tokens }) => tokens[0]?.value);
    await apply(changed, { secret: "whsec_two" });
    expect(sources().map(({ tokens }) => tokens[0]?.value)).toContain(address);
    expect(sources().find(({ kind }) => kind === "stripe")?.secrets.signing_secret).toEqual([
      { value: "whsec_two", until: null },
      { value: "whsec_one", until: at + 86_400_000 },
    ]);

    const exported = toYaml(await exportConfiguration(context));
    expect(exported).toContain("signing_secret: ${SHOP_EXAMPLE_COM_STRIPE_SIGNING_SECRET}");
    expect(exported).not.toMatch(/whsec_/);
    for (const { tokens } of sources()) for (const { value } of tokens) expect(exported).not.toContain(value);

    const faults = async (text: string) => {
      const error: unknown = await planFile(context, file(text), { prune: false }).catch((thrown: unknown) => thrown);
      return error instanceof BadFile ? error.faults.map(({ field, message }) => `${field}: ${message}`) : [];
    };
    expect(await faults("      - kind: stripe\n        settings: { signing_secret: plain, invoices: some }\n")).toEqual([
      expect.stringContaining("sites[0].sources[0].settings.signing_secret: is a secret"),
      expect.stringContaining("sites[0].sources[0].settings.invoices: must be one of"),
    ]);
    expect(await faults("      - kind: nothing\n")).toEqual([expect.stringContaining("must be one of stripe")]);
    expect(await faults("      - kind: jotform\n        name: Stripe\n")).toEqual([
      expect.stringContaining("of this source is stripe, and cannot change."),
    ]);
    await apply("      - kind: custom\n        name: Own shop\n", { prune: true });
    expect(sources().map(({ name }) => name)).toEqual(["Own shop"]);
  } finally {
    await context.access.close();
    await store.close();
  }
});

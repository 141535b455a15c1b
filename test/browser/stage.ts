// Sets up the whole path from an advertisement to a platform for one test file: the relay with its site, key and a webhook
// that shows what platforms receive, and the customer's site in front of it.

import { expect } from "vitest";
import { rows, type Row } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { newInstallation, type Engine, type Installation, type Relay } from "../support/relay.ts";
import { shop, startSite, type TestSite } from "./site.ts";

export type Conversion = {
  platformEventId: string;
  event: string;
  orderId: string;
  emailSha256: string | null;
  phoneSha256: string | null;
  clickIds: Record<string, string>;
  utm: Record<string, string>;
  consent: string;
};

export type Stage = {
  home: Installation;
  relay: Relay;
  site: TestSite;
  siteId: string;
  receiver: Receiver;
  /** Posts a conversion of this person as a CRM does; returns what the platform received. */
  convert(email: string, more?: Record<string, string | number | null>): Promise<Conversion>;
  stored(): Promise<Stored>;
};

export type Options = {
  engine?: Engine;
  env?: Record<string, string>;
  /** `name=value` settings of the site. */
  settings?: string[];
  relayHost?: string;
  /** Connects the sandbox too. */
  withSandbox?: boolean;
};

let orders = 0;

export async function setUpStage({
  engine = "sqlite",
  env = {},
  settings = [],
  relayHost,
  withSandbox = false,
}: Options = {}): Promise<Stage> {
  const home = await newInstallation(engine, {
    // All visitors of these tests share one address, and must not reach the limit of one visitor.
    CLEANCAST_COLLECT_PER_MINUTE: "1000000",
    ...env,
  });
  const receiver = await startReceiver();
  const added = await home.run("site", "add", shop);
  if (relayHost) await home.run("host", "add", shop, relayHost);
  // Lets the driven browser pass as human; the tests of bots remove this.
  await home.run("site", "set", shop, `allow_networks=203.0.113.0/24`, ...settings);
  const { key } = await home.run("key", "add", shop, "crm");
  if (withSandbox) await home.run("connection", "add", shop, "sandbox");
  await home.run("connection", "add", shop, "webhook", `url=${receiver.url}/conversions`);
  const relay = await home.start();
  const site = await startSite(relay, relayHost ? { relayHost } : {});

  return {
    home,
    relay,
    site,
    siteId: added.id,
    receiver,
    async convert(email, more = {}) {
      orders += 1;
      const orderId = `order-${orders}`;
      const answer = await relay.post(key, { email, event: "purchase", orderId, ...more });
      expect(answer.status).toBe(200);
      const wanted = String(more["orderId"] ?? orderId).trim();
      const got = receiver.bodies().find((body) => body["orderId"] === wanted);
      return got as Conversion;
    },
    stored: () => readStored(home),
  };
}

type Stored = {
  visitors: { visitor_id: string; record: string }[];
  identities: { email_sha256: string; record: string }[];
  consents: { subject: string; given_by: string; state: string }[];
  consent_history: { subject: string; given_by: string; state: string }[];
};

const tables = ["visitors", "identities", "consents", "consent_history"] as const;

/** The rows about people, read directly from the database. */
async function readStored(home: Installation): Promise<Stored> {
  const stored: Partial<Record<keyof Stored, Row[]>> = {};
  for (const table of tables) stored[table] = await rows(home, `SELECT * FROM ${table}`);
  return stored as Stored;
}

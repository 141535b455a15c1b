// Compares building a platform's request from an event: Cleancast and the platforms' own libraries.

import { standinConnections } from "../scripts/standinConnections.ts";
import { toConversion } from "../src/delivery/plan.ts";
import { attribute } from "../src/identity/attribution.ts";
import { hashEmail } from "../test/support/person.ts";
import { FieldFault, newEvent, readFields } from "../src/inbound/fields.ts";
import { platformOf } from "../src/platforms/index.ts";
import type { ConnectionSettings, Platform } from "../src/platforms/platform.ts";
import { withDefaults } from "../src/sites/settings.ts";
import { daysAgo, eventFields, identityRecord, youngDays } from "./support/input.ts";
import { installPeers, versionOf } from "./support/peerPackages.ts";
import {
  atLeast,
  interleaved,
  median,
  medianRatio,
  number,
  roundsOf,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { openSdks, type Given, type Visited } from "./peerSdks.ts";

const site = withDefaults({});
const identity = identityRecord("0123456789", daysAgo(youngDays), hashEmail("known@example.com"));
const visited: Visited = {
  fbc: "fb.1.1794297600000.IwAR0123456789aem_AbCdEfGhIjKlMnOpQrStUv",
  fbp: "fb.1.1794297600000.0123456789",
  ttclid: "E.C.P.ExampleClick",
  page: identity.visits[0]?.browser?.page ?? "",
  address: identity.visits[0]?.browser?.address ?? "",
  userAgent: identity.visits[0]?.browser?.userAgent ?? "",
};

/** Checks, normalises and hashes the fields, checks consent, chooses ids, maps fields and builds the request. */
function buildRequest(platform: Platform, settings: ConnectionSettings, given: Given): string {
  const now = Date.now();
  const fields = readFields({ fields: given, text: "" }, site, now);
  if (fields instanceof FieldFault) throw new Error(fields.message);
  const origin = {
    id: given.orderId,
    siteId: "site",
    keyId: "key",
    mode: "live",
    receivedAt: now,
    extra: null,
  } as const;
  const person = { ...identity.forms, ...fields.person };
  const event = newEvent({ ...fields, person }, origin);
  const known = { consent: "granted", withheld: null, identity } as const;
  const attribution = attribute(known, event.time, { keepMs: site.keepMs, isTrusted: false });
  const conversion = toConversion(event, event.id, attribution);
  const unfit = platform.skipReason?.(conversion, settings, now);
  if (unfit) throw new Error(`${platform.id}: ${unfit}`);
  return platform.toRequest([conversion], settings, now).body;
}

const mappings = {
  meta: { "map.custom_data.content_name": "utm_campaign" },
  tiktok: { "map.properties.description": "utm_campaign" },
  segment: {},
} as const;

async function run(mode: Mode): Promise<Findings> {
  installPeers();
  const sdks = await openSdks();
  const ours = (["meta", "tiktok", "segment"] as const).map((id) => {
    const platform = platformOf(id) as Platform;
    const settings = { ...standinConnections[id], ...mappings[id] };
    return { name: id, build: (given: Given) => buildRequest(platform, settings, given) };
  });
  const perRun = mode.quick ? 200 : 1500;
  let runs = 0;
  const measureBuild = (build: (given: Given, visited: Visited) => unknown) => async () => {
    const population = { prefix: `t${runs++}`, known: 0 };
    const events = Array.from({ length: perRun }, (_, i) => eventFields(i, population));
    const before = process.cpuUsage();
    for (const given of events) await build(given, visited);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / perRun;
  };
  const times = await interleaved(
    roundsOf(mode, 9),
    Object.fromEntries([...ours, ...sdks].map(({ name, build }) => [name, measureBuild(build)])),
  );
  const of = (name: string) => times[name] ?? [];
  return {
    tables: [
      {
        title: "One event into one request, CPU",
        head: ["", "µs/event", "Cleancast µs/event", "Cleancast is faster by", "what it does"],
        rows: sdks.map(({ name, platform, does }) => [
          `${name} ${versionOf(name)}`,
          number(median(of(name))),
          `${number(median(of(platform)))} (${platform})`,
          `${number(medianRatio(of(name), of(platform)))} ×`,
          does,
        ]),
      },
    ],
    targets: sdks.map(({ name, platform }) =>
      atLeast(`${name}: times slower than ours`, medianRatio(of(name), of(platform)), 2, " ×"),
    ),
    notes: [
      `Cleancast checks the fields, normalises and hashes email, phone and names in every form that a platform needs, checks consent,
chooses click ids, checks whether the platform accepts the event, maps fields, and builds the request.`,
    ],
  };
}

export const peers: Part = {
  name: "peers",
  title: "Building a request",
  about: "From the fields of an inbound event to the body of a platform's request. Nothing is sent.",
  run,
};

// Compares building a platform's request from an event: Cleancast and the platforms' own libraries.

import { standinConnections } from "../scripts/standinConnections.ts";
import { toConversion } from "../src/delivery/conversion.ts";
import { attribute } from "../src/identity/attribution.ts";
import type { Conversion } from "../src/kernel/event.ts";
import { hashEmail } from "../test/support/person.ts";
import { FieldFault } from "../src/inbound/fieldFault.ts";
import { newEvent, readFields } from "../src/inbound/fields.ts";
import { platformOf } from "../src/platforms/index.ts";
import type { Platform } from "../src/platforms/platform.ts";
import { skipOf } from "../src/platforms/shared/skips.ts";
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
  timesBase,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { hashContact, hashTraits, createSdks, type Given, type Sdk, type Visited } from "./peerSdks.ts";

const site = { id: "site", settings: withDefaults({}) };
const identity = identityRecord("0123456789", daysAgo(youngDays), hashEmail("known@example.com"));
const visited: Visited = {
  fbc: "fb.1.1794297600000.IwAR0123456789aem_AbCdEfGhIjKlMnOpQrStUv",
  fbp: "fb.1.1794297600000.0123456789",
  page: identity.visits[0]?.browser?.page ?? "",
  address: identity.visits[0]?.browser?.address ?? "",
  userAgent: identity.visits[0]?.browser?.userAgent ?? "",
  referrer: identity.visits[0]?.browser?.referrer ?? "",
  clickIds: Object.fromEntries(Object.entries(identity.visits[0]?.clickIds ?? {}).map(([name, { value }]) => [name, value])),
  utm: identity.firstUtm,
};

/** The field work, which the relay does once per event: checks, hashes in all forms, consent, choice of ids. */
function readConversion(given: Given): Conversion {
  const now = Date.now();
  const fields = readFields({ fields: given, exact: () => undefined }, site, now);
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
  const attribution = attribute(known, event.time, { keepMs: site.settings.keepMs, isTrusted: false });
  return toConversion(event, event.id, attribution);
}

type Ours = { name: "meta" | "segment"; build: (conversion: Conversion) => string };

function createOurs(name: Ours["name"]): Ours {
  const platform = platformOf(name) as Platform;
  const settings = standinConnections[name];
  return {
    name,
    build(conversion) {
      const now = Date.now();
      const unfit = skipOf(platform, conversion, settings);
      if (unfit) throw new Error(`${name}: ${unfit.reason}`);
      return platform.toRequest([conversion], settings, now).body;
    },
  };
}

const does = "checks whether the platform accepts the event, builds, stringifies";

/** Two variants of each contestant: from contact data that is hashed, and from plain data. */
const alone = (name: string) => `${name}, building`;
const whole = (name: string) => `${name}, with field work`;

const addRounds = (some: readonly number[], others: readonly number[]) =>
  some.map((value, round) => value + (others[round] ?? Number.NaN));

async function run(mode: Mode): Promise<Findings> {
  installPeers();
  const sdks = createSdks();
  const ours = (["meta", "segment"] as const).map(createOurs);
  const perRun = mode.quick ? 200 : 1500;
  let runs = 0;
  /** What `prepare` does is not measured. */
  const measureBuild =
    <Input>(prepare: (given: Given) => Input, build: (input: Input) => unknown) =>
    async () => {
      const population = { prefix: `t${runs++}`, known: 0 };
      const inputs = Array.from({ length: perRun }, (_, i) => prepare(eventFields(i, population)));
      const before = process.cpuUsage();
      for (const input of inputs) await build(input);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / perRun;
    };
  const asGiven = (given: Given) => given;
  const contestants = Object.fromEntries([
    ...ours.flatMap(({ name, build }) => [
      [alone(name), measureBuild(readConversion, build)] as const,
      [whole(name), measureBuild(asGiven, (given) => build(readConversion(given)))] as const,
    ]),
    ...sdks.flatMap(({ name, build, hashes }) => [
      [alone(name), measureBuild(hashContact, (given) => build(given, visited))] as const,
      [whole(name), measureBuild(asGiven, (given) => build(hashes ? given : hashTraits(given), visited))] as const,
    ]),
  ]);
  for (let warm = 0; warm < (mode.quick ? 0 : 3); warm++) for (const measure of Object.values(contestants)) await measure();
  const times = await interleaved(roundsOf(mode, 9), contestants);
  const of = (name: string) => times[name] ?? [];
  const faster = (variant: typeof alone, sdk: Sdk) => medianRatio(of(variant(sdk.name)), of(variant(sdk.platform)));
  const timesOurs = (variant: typeof alone, sdk: Sdk) => timesBase(faster(variant, sdk), median(of(variant(sdk.platform))));
  const ourBoth = addRounds(of(whole("meta")), of(alone("segment")));
  const cell = (variant: typeof alone, name: string) => number(median(of(variant(name))));
  return {
    tables: [
      {
        title: "One event into one request, CPU µs",
        head: ["", "building", "× Cleancast", "with field work", "× Cleancast", "what building includes"],
        rows: [
          ...ours.map(({ name }) => [`Cleancast, ${name}`, cell(alone, name), "", cell(whole, name), "", does]),
          ...sdks.map((sdk) => [
            `${sdk.name} ${versionOf(sdk.name)}, for ${sdk.platform}`,
            cell(alone, sdk.name),
            timesOurs(alone, sdk),
            cell(whole, sdk.name),
            timesOurs(whole, sdk),
            sdk.does,
          ]),
        ],
      },
      {
        title: "One event for Meta and for Segment, with field work, CPU µs",
        head: ["", "both requests", "× Cleancast"],
        rows: [
          ["Cleancast: field work once, two requests", number(median(ourBoth)), ""],
          ...sdks.flatMap(({ name, platform }) => {
            if (platform !== "segment") return [];
            const both = addRounds(of(whole("facebook-nodejs-business-sdk")), of(whole(name)));
            return [
              [
                `facebook-nodejs-business-sdk and ${name}`,
                number(median(both)),
                timesBase(medianRatio(both, ourBoth), median(ourBoth)),
              ],
            ];
          }),
        ],
      },
    ],
    targets: sdks.map((sdk) =>
      atLeast(
        `Building a request: CPU of ${sdk.name}, relative to Cleancast`,
        faster(alone, sdk),
        2,
        " ×",
        `${cell(alone, sdk.name)} and ${cell(alone, sdk.platform)} µs`,
      ),
    ),
    notes: [
      `All build a request with the same content. Building starts from contact data that is hashed, for all. The field work of Cleancast is done once per event, whatever the number of
connections: it checks all fields, normalises and hashes email, phone and names in every form that a platform needs, checks consent, and
chooses click ids. Here all of it is charged to one request. With field work, Meta's library gets plain contact data and hashes it again for
every request; for the others the caller hashes email and phone and nothing else. TikTok's library is left out: it neither checks nor hashes.`,
    ],
  };
}

export const peers: Part = {
  name: "peers",
  title: "Building a request",
  about:
    "From an inbound event to the body of a platform's request, compared with libraries that do comparable work. Nothing is sent.",
  run,
};

// `npm run docs:platforms` writes docs/platforms/: a page for each platform, from the platform's own object. test/docs.test.ts fails if
// the pages differ from it.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Example } from "../src/platforms/example.ts";
import { english } from "../src/kernel/messages/message.ts";
import { examplesOf, exampleSettings } from "../src/platforms/examples.ts";
import { platforms } from "../src/platforms/index.ts";
import { eventFieldNames } from "../src/platforms/shared/mapping.ts";
import { usualEvents } from "../src/platforms/shared/usualEvents.ts";
import type { Platform } from "../src/platforms/platform.ts";
import { consentText, testModeText } from "../src/platforms/shared/skips.ts";
import { neededSettings } from "../src/sites/connectionHints.ts";
import { code, page, table } from "./docs/markdown.ts";

const folder = new URL("../docs/platforms/", import.meta.url);

/** Returns the text of each page by its file name. */
export function platformPages(): Map<string, string> {
  const pages = new Map(platforms.map((platform) => [`${platform.id}.md`, pageOf(platform)]));
  return pages.set("README.md", overview());
}

function overview(): string {
  const rows = platforms.map(({ id, name, description, batch, maxAgeDays, oauth }) => [
    `[${name}](${id}.md)`,
    `\`${id}\``,
    description,
    oauth ? "sign-in or token" : "settings",
    typeof maxAgeDays === "number" ? `${maxAgeDays} days` : maxAgeDays ? `[by event](${id}.md#limits)` : "–",
    String(batch),
  ]);
  const head = ["platform", "id", "", "connected by", "takes events up to", "in one request"];
  return page([
    "# Platforms",
    "Each page is generated from the platform's own code (`npm run docs:platforms`). Connect a platform with",
    code("text", "npx cleancast connection add SITE PLATFORM name=value …"),
    table(head, rows),
    [
      "For every connection: `events=purchase,lead` selects events, `event.NAME=…` chooses the name (or the conversion actions) of an",
      "event, `map.FIELD=SOURCE` fills a field, `connection preview ID` shows the exact request, `connection test ID` sends a test",
      `event and shows the answer. A SOURCE is ${eventFieldNames.map((name) => `\`${name}\``).join(", ")}, a UTM field, \`extra.NAME\` (another`,
      "field of the inbound request) or `const:TEXT`. A field of items stands for all items of the event: texts once each, separated by",
      "commas; `items.quantity` is the number of pieces and `items.price` the price of all of them.",
    ].join("\n"),
    "## Event names",
    [
      "An event may have any name. These are the usual events; their other names, as Google Analytics 4, Segment, Shopify, CRMs and",
      "the platforms' own pixels have them, mean the same at every platform. Case, spaces, dashes and underscores do not matter.",
      "A choice for a usual event (`event.lead=…`, `events=lead`) applies to its other names too, unless one has its own",
      "(`event.generate_lead=…`). A platform without a name of its own for a usual event gets the usual one, changed where it does not",
      "allow it: `MQL` is the custom event `qualified_lead`. `connection preview ID --name EVENT` says which name an event gets, and why.",
    ].join("\n"),
    table(
      ["event", "other names"],
      Object.entries(usualEvents).map(([usual, others]) => [`\`${usual}\``, others.map((one) => `\`${one}\``).join(", ")]),
    ),
  ]);
}

function pageOf(platform: Platform): string {
  const { name, description, docs, guide, settings, events, fields, pickers = [] } = platform;
  const facts = [
    ...(platform.ids?.length ? [`- Uses the ids ${platform.ids.map((id) => `\`${id}\``).join(", ")}.`] : []),
    ...(typeof platform.maxAgeDays === "number" ? [`- Takes events up to ${platform.maxAgeDays} days old.`] : []),
    platform.batch === 1 ? "- One event in a request." : `- Up to ${platform.batch} events in a request.`,
    ...(platform.quota
      ? [
          `- Up to ${platform.quota.requests} requests in ${platform.quota.seconds === 1 ? "a second" : `${platform.quota.seconds} seconds`}.`,
        ]
      : []),
    ...(guide?.limits.map((limit) => `- ${limit}`) ?? []),
  ];
  return page([
    `# ${name}`,
    `${description}${docs ? ` Its API: <${docs.url}>, last compared on ${docs.checked}.` : ""}`,
    ...(guide ? ["## Get the credentials", guide.credentials.map((step, i) => `${i + 1}. ${step}`).join("\n")] : []),
    "## Connect",
    code("sh run", connectLine(platform)),
    verifiedText(platform),
    ...(settings.length ? [settingsTable(platform)] : []),
    ...(settings.some(({ signing }) => signing)
      ? [
          "**Signature.** Each request is signed. [Receive conversions at your own endpoint](../how-to/receive-conversions.md) has receivers that check it, and says how to rotate the secret.",
        ]
      : []),
    ...(platform.oauth
      ? [
          [
            `Instead of pasting tokens, sign in: register an app at ${name} with the redirect address \`CLEANCAST_URL/oauth/callback\`, then`,
          ].join("\n"),
          code(
            "sh run",
            `npx cleancast oauth app set ${platform.id} client_id=… client_secret=@file\nnpx cleancast sign-in SITE ${platform.id}`,
          ),
        ]
      : []),
    ...(pickers.length
      ? [
          `The platform's own lists fill ${pickers.map(({ setting }) => `\`${setting}\``).join(", ")}: \`npx cleancast connection choices SITE ${platform.id} SETTING\`.`,
        ]
      : []),
    ...(events ? ["## Events", eventsText(platform)] : []),
    ...(guide
      ? [
          "## What is sent",
          table(
            ["field", "from"],
            guide.sends.map(([field, from]) => [`\`${field}\``, from]),
          ),
          ...(guide.notSent.length ? ["Not sent:", guide.notSent.map((one) => `- ${one}`).join("\n")] : []),
          `**Consent.** ${consentText(platform)}`,
          `**Test events.** ${testModeText(platform)}`,
        ]
      : []),
    ...(fields?.length
      ? [
          "Fields that a connection may fill (`map.FIELD=SOURCE`):",
          table(
            ["field", ""],
            fields.map((one) => [`\`${one.name}\``, one.help]),
          ),
        ]
      : []),
    "## Limits",
    facts.join("\n"),
    "## Examples",
    ...examplesOf(platform.id).examples.slice(0, 4).flatMap(exampleText),
  ]);
}

function connectLine(platform: Platform): string {
  const words = neededSettings(platform).map(({ name, secret }) => `${name}=${secret ? "@file" : "…"}`);
  return ["npx cleancast connection add SITE", platform.id, ...words].join(" ");
}

/** How the connection is verified depends on its settings: this is the way of the command above. */
function verifiedText(platform: Platform): string {
  const { id, name, settings } = platform;
  const verification = platform.verify(exampleSettings(id), 0);
  const labels = new Map(settings.map((one) => [one.name, one.label.toLowerCase()]));
  const unchecked =
    verification.by === "call" && verification.unchecked
      ? ` It does not check ${labels.get(verification.unchecked) ?? verification.unchecked}.`
      : "";
  switch (verification.by) {
    case "relay":
      return "It is part of the relay, so there is nothing to verify.";
    case "test event":
      return `**Verification.** After connecting, ${name} is asked with a sample event in its test mode, which counts nothing.`;
    case "call":
      return `**Verification.** After connecting, ${name} is asked with a call that counts nothing.${unchecked}`;
    case "nothing":
      return `**Verification.** None: ${english(verification.reason)}.`;
  }
}

function settingsTable({ settings }: Platform): string {
  return table(
    ["setting", "", ""],
    settings.map(({ name, label, help, required, secret, default: value }) => [
      `\`${name}\``,
      [label, required ? "required" : value === undefined ? "" : `default \`${value}\``, secret ? "secret" : ""]
        .filter(Boolean)
        .join(", "),
      help,
    ]),
  );
}

function eventsText({ events, name }: Platform): string {
  if (!events) return "";
  const standard = Object.entries(events.standard);
  const several = events.several ? " `event.NAME=A,B` sets several, separated by commas: the event counts for each of them." : "";
  if (standard.length === 0 && events.others === "not sent") {
    return (
      `${name} has no event names: \`event.NAME=…\` sets the target of an event, also for its [other names](README.md#event-names). ` +
      `Other events go to the connection's default target, or are skipped if it has none.${several}`
    );
  }
  if (standard.length === 0 && events.others === "own name")
    return `${name} has no list of names: a [usual event](README.md#event-names) is sent under its usual name, any other under its own, or under the name that \`event.NAME=…\` sets.`;
  const others =
    events.others === "own name"
      ? `Any other name is sent as a custom event; characters that ${name} does not allow are replaced.`
      : events.others === "not sent"
        ? "All others are skipped unless the connection names them (`event.NAME=…`)."
        : `All others are sent as \`${events.others.name}\`.`;
  const rows = standard.map(([ours, theirs]) => [`\`${ours}\``, `\`${theirs}\``]);
  return [
    table(["event", `at ${name}`], rows),
    `The [other names](README.md#event-names) of an event are sent as the same one. ${others}${several}`,
  ].join("\n\n");
}

/** Leaves header values out, because most are secret. */
function exampleText({ title, request }: Example): string[] {
  return [
    `### ${title}`,
    code("http", `${request.method} ${request.url}`),
    // A GET has no body.
    ...(request.body === "" ? [] : [code("json", JSON.stringify(request.body, null, 2))]),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of platformPages()) writeFileSync(new URL(name, folder), text);
}

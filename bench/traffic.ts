// Measures how well and how fast the traffic rules distinguish bots from people by the user agent alone, compared with public
// classifiers.
//
//   npx node bench/traffic.ts               the public sets
//   npx node bench/traffic.ts --set FILE    also your own labelled set: lines of {"ua", "label", "source"}
//
// A new classifier is one line in `classifiers`, a new set one line in `readSets`.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import crawlers from "crawler-user-agents";
import { isbot } from "isbot";
import { seededRandom } from "../standins/shared/seededRandom.ts";
import { withDefaults } from "../src/sites/settings.ts";
import { quiet } from "../src/traffic/frequency.ts";
import type { Observation } from "../src/traffic/observation.ts";
import { readUserAgent } from "../src/traffic/userAgent/userAgent.ts";
import { judge } from "../src/traffic/verdict.ts";
import { median } from "./part.ts";
import { tableText } from "./report.ts";
import { installPeers, load, versionOf } from "./support/peerPackages.ts";

const report = fileURLToPath(new URL("../docs/explanation/bot-detection-accuracy.md", import.meta.url));
installPeers();

type Classifier = { name: string; isBot: (userAgent: string) => boolean };
type LabelledSet = { name: string; label: "bot" | "human"; userAgents: string[] };

/** These are people: in-app browsers, editors, a site-specific browser. They are excluded from every figure. */
const mislabelled = new Set(["AP3A\\.240617\\.008", "MetaIAB Facebook", "Code\\/1\\.", "Trae\\/", "Fluid"]);

const classifiers = ((): Classifier[] => {
  const joined = new RegExp(crawlers.map(({ pattern }) => pattern).join("|"));
  const BotParser = load("device-detector-js/dist/parsers/bot") as new () => { parse(ua: string): unknown };
  const detector = new BotParser();
  const listed = (ua: string) => joined.test(ua);
  const detected = (ua: string) => detector.parse(ua) !== null;
  return [
    { name: "Cleancast, hard reasons", isBot: (ua) => readUserAgent(ua).evidence?.hard ?? false },
    { name: "Cleancast, hard and soft", isBot: (ua) => readUserAgent(ua).evidence !== null },
    { name: "Cleancast, whole verdict", isBot: (ua) => judge(visitWith(ua), rules).verdict.bot },
    { name: "isbot", isBot: (ua) => isbot(ua) },
    { name: "crawler-user-agents, joined", isBot: listed },
    { name: "device-detector-js, bot parser", isBot: detected },
    { name: "isbot or crawler-user-agents", isBot: (ua) => isbot(ua) || listed(ua) },
    { name: "all three", isBot: (ua) => isbot(ua) || listed(ua) || detected(ua) },
  ];
})();

const rules = withDefaults({});
let seen = 0;

/** An ordinary visit, from another address every time, so that every rule runs. */
function visitWith(userAgent: string): Observation {
  seen += 1;
  return {
    userAgent,
    address: `${1 + (seen % 220)}.${(seen * 7) % 256}.${(seen * 13) % 256}.${(seen * 31) % 256}`,
    country: null,
    handshake: "",
    headers: {
      secure: true,
      acceptLanguage: true,
      secFetch: true,
      isPageLoad: false,
      isReport: true,
      isReordered: false,
      brands: brandsFor(userAgent),
      platform: "",
      mobile: "",
    },
    script: { webdriver: false, platform: "", touchPoints: 1, isChromium: false },
    submit: { afterMs: 9000, inputs: 20, untrusted: false },
    use: null,
    frequency: { ...quiet, ofNetwork: 1, ofVisitor: 1, visitorsOfClick: 1 },
  };
}

const brands = new Map<string, string>();

/** The client hints that belong to a user agent. They are cached, so only the unmeasured first round builds them. */
function brandsFor(userAgent: string): string {
  let hints = brands.get(userAgent);
  if (hints === undefined) {
    const version = /iP(?:hone|ad|od)/.test(userAgent) ? undefined : / Chrome\/(\d+)/.exec(userAgent)?.[1];
    hints = version ? `"Chromium";v="${version}", "Not_A Brand";v="99"` : "";
    if (brands.size < 100_000) brands.set(userAgent, hints);
  }
  return hints;
}

function readSets(file: string | undefined): LabelledSet[] {
  const people = drawPeople(20_000);
  const bots = crawlers.flatMap(({ pattern, instances }) => (mislabelled.has(pattern) ? [] : instances));
  const sets: LabelledSet[] = [
    { name: "crawler-user-agents, examples", label: "bot", userAgents: bots },
    { name: "user-agents, browsers", label: "human", userAgents: people.filter((ua) => !inApp.test(ua)) },
    { name: "user-agents, in-app", label: "human", userAgents: people.filter((ua) => inApp.test(ua)) },
  ];
  return file === undefined ? sets : [...sets, ...readLabelledFile(file)];
}

const inApp = /FBA[NV]\/|FB_IAB|Instagram|musical_ly|TikTok|Snapchat|Pinterest\/|LinkedInApp|MicroMessenger|GSA\/|; wv\)/;

function readLabelledFile(file: string): LabelledSet[] {
  const sets = new Map<string, LabelledSet>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (!line) continue;
    const { ua, label, source } = JSON.parse(line) as { ua: string; label: "bot" | "human"; source: string };
    const name = `given: ${source}`;
    const set = sets.get(name) ?? { name, label, userAgents: [] };
    set.userAgents.push(ua);
    sets.set(name, set);
  }
  return [...sets.values()];
}

/** The package uses Math.random; replacing it with a seeded one makes every run the same. */
function drawPeople(count: number): string[] {
  const UserAgent = load("user-agents") as new () => { userAgent: string };
  const original = Math.random;
  Math.random = seededRandom(20_260_101);
  try {
    return Array.from({ length: count }, () => new UserAgent().userAgent);
  } finally {
    Math.random = original;
  }
}

/** Returns user agents that never repeat: each has another minor version. */
function uniqueUserAgents(count: number, people: string[], run: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    (people[(i * 7) % people.length] as string).replace(
      /((?:Chrome|CriOS|Firefox|Version)\/\d+\.)(?:0\.0\.)?[\d.]*/,
      `$10.${1000 + run}.${i}`,
    ),
  );
}

/** Draws realistic visits: of 50,000 strings the n-th most frequent has 1/n of the first one's share; one in ten is a bot. */
function visits(count: number, pool: string[], bots: string[], run: number): string[] {
  const random = seededRandom(run);
  const zipf = (list: string[]) => list[Math.floor(list.length ** random()) - 1] as string;
  return Array.from({ length: count }, () => zipf(random() < 0.1 ? bots : pool));
}

const rounds = 5;

/** Each run has another list: classifiers that share a cache must not help each other. */
function verdictsPerSecond(listOf: (run: number) => string[]): number[] {
  const speeds = classifiers.map((): number[] => []);
  // Interleaved, so that a busy moment of the machine affects all of them. The first round warms up.
  for (let round = 0; round <= rounds; round++)
    for (const [index, { isBot }] of classifiers.entries()) {
      const list = listOf(round * classifiers.length + index);
      // CPU time, because other programs may use the machine.
      const began = process.cpuUsage();
      for (const ua of list) isBot(ua);
      const { user, system } = process.cpuUsage(began);
      if (round > 0) speeds[index]?.push((list.length * 1_000_000) / (user + system));
    }
  return speeds.map(median);
}

const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(part === 0 ? 0 : 2)} %`;
const table = (head: string[], rows: string[][]) => tableText({ head, rows });

const { values } = parseArgs({ options: { set: { type: "string" } } });
const sets = readSets(values.set);
const setsOf = (label: LabelledSet["label"]) => sets.filter((set) => set.label === label);

const accuracy = (label: LabelledSet["label"]) =>
  table(
    [
      label === "bot" ? "detected" : "mistaken for bots",
      ...setsOf(label).map(({ name, userAgents }) => `${name} (${userAgents.length})`),
    ],
    classifiers.map(({ name, isBot }) => [
      name,
      ...setsOf(label).map(({ userAgents }) => percent(userAgents.filter(isBot).length, userAgents.length)),
    ]),
  );

const distinct = (label: LabelledSet["label"]) => [...new Set(setsOf(label).flatMap(({ userAgents }) => userAgents))];
const [people, bots] = [distinct("human"), distinct("bot")];
const pool = Array.from({ length: Math.ceil(50_000 / people.length) }, (_, i) =>
  i === 0 ? people : uniqueUserAgents(people.length, people, -1 - i),
).flat();
const repeated = verdictsPerSecond((run) => visits(20_000, pool, bots, run));
const unrepeated = verdictsPerSecond((run) => uniqueUserAgents(6_000, people, run));
const reference = classifiers.findIndex(({ name }) => name === "isbot");
const ratio = (speeds: number[], i: number) => `${((speeds[i] as number) / (speeds[reference] as number)).toFixed(2)} ×`;
const rounded = (speeds: number[], i: number) => (speeds[i] as number).toLocaleString("en", { maximumSignificantDigits: 2 });

const ratios = table(
  ["speed, isbot = 1", "realistic visits", "no repeats"],
  classifiers.map(({ name }, i) => [name, ratio(repeated, i), ratio(unrepeated, i)]),
);
const speeds = table(
  ["verdicts per second on one core", "realistic visits", "no repeats"],
  classifiers.map(({ name }, i) => [name, rounded(repeated, i), rounded(unrepeated, i)]),
);
const resolve = createRequire(import.meta.url).resolve;
function ownVersionOf(name: string): string {
  const entry = resolve(name);
  const folder = entry.slice(0, entry.lastIndexOf(`/${name}/`));
  return JSON.parse(readFileSync(`${folder}/${name}/package.json`, "utf8")).version;
}
const versions = [
  ...["isbot", "crawler-user-agents"].map((name) => `${name} ${ownVersionOf(name)}`),
  ...["device-detector-js", "user-agents"].map((name) => `${name} ${versionOf(name)}`),
].join(", ");

const page = `# Bot detection accuracy

How well the rules distinguish bots from people by the user agent alone, compared with public classifiers. Written by \`npx node bench/traffic.ts\` on
${new Date().toISOString().slice(0, 10)} with ${versions}, Node ${process.versions.node}.

## Speed

The ratios hold on other machines; the absolute numbers are for one core of the machine that wrote this page. Figures are medians of
five interleaved rounds, in CPU time. *Realistic visits*: a Zipf-like sample of 50,000 strings, one in ten a bot; Cleancast caches the verdicts of a few
thousand strings. *No repeats*: people's strings, none repeated.

${ratios}

${speeds}

## Detected bots

${accuracy("bot")}

## People mistaken for bots

Only a *hard* reason removes a visit on its own; a *soft* one needs a second, independent kind of evidence.

${accuracy("human")}

## Limits of these figures

- The data sets and the classifiers' sources are public: isbot is tested against the same lists, crawler-user-agents is measured on its
  own examples (100 % by construction), and device-detector-js includes a copy of such a list. Cleancast's rules use crawler-user-agents and
  isbot, and were tuned on part of such data. The figures show that known bots are detected, not which share of all bots is.
- Five examples of crawler-user-agents are people (in-app browsers, two editors, a site-specific browser) and are excluded. Its patterns
  run here as published, without our corrections.
- \`user-agents\` is a sample of real traffic, which contains disguised bots: by the user agent alone they are people, and are
  counted as people.
- No classifier can detect a bot by its user agent if it copies a browser's string exactly.

To repeat: \`npx node bench/traffic.ts\`. With your own labelled set: \`npx node bench/traffic.ts --set FILE\`, with one line per user agent:
\`{"ua": "…", "label": "bot" or "human", "source": "…"}\`.
`;

// bench/bots measures this section.
const realTools = readFileSync(report, "utf8").split("\n## Real tools")[1];
writeFileSync(report, realTools === undefined ? page : `${page}\n## Real tools${realTools}`);
console.log([ratios, speeds, accuracy("bot"), accuracy("human"), versions].join("\n\n"));

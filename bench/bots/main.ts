// Runs real automation tools, programs, farms and people against the relay, and prints how many of each are recognised, beside
// BotD and isbot in the same visits.
//
//   npm run bench:bots                             records the judging set from the start, and judges it
//   npm run bench:bots -- record --set tuning      records what is missing; --only TEXT, --visits N of each set-up,
//                                                  --group browser|program|farm|attack|person, --minutes N to stop and go on later,
//                                                  --parallel N screens, --each N people in a browser before it is started anew
//   npm run bench:bots -- judge --set tuning       judges the recordings again, by the current rules; --details lists reasons, and
//                                                  --usual leaves new evidence in shadow, as it begins on a site, and --tls
//                                                  passes on what clients offered in their TLS handshake
//   npm run bench:bots -- publish                  judges them as a site begins and with all evidence on, and writes both into
//                                                  docs/explanation/bot-detection-accuracy.md
//
// Recordings are in bench/bots/recordings. They are what browsers and programs sent to the relay, so that rules can be tried
// without running every browser again. Two sets exist, of different pages and scripts: rules are tuned on one and judged on the other.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { hourMs, minuteMs } from "../../src/kernel/time.ts";
import { rulesVersion } from "../../src/traffic/verdict.ts";
import { tableText } from "../report.ts";
import { startDisplay, type Display } from "./display.ts";
import { openFront, sendToRelay, type Recorded } from "./front.ts";
import { here, installTools, load, versionOf } from "./packages.ts";
import { startBenchRelay, type Judged } from "./relay.ts";
import type { PageSet } from "./pages.ts";
import type { SetUp, Visit } from "./visit.ts";

installTools();
const { pagesOf } = await import("./pages.ts");
const { attacks } = await import("./attacks.ts");
const { people } = await import("./people.ts");
const { farms, programs } = await import("./programs.ts");
const { tools } = await import("./tools.ts");
const { addressIn, adUrl, sleep } = await import("./visit.ts");

const setUps: readonly SetUp[] = [...tools, ...programs, ...farms, ...attacks, ...people];
const titles = {
  browser: "automated browsers",
  program: "programs that post reports",
  farm: "click farms",
  attack: "attacks that no rule was tuned against",
  person: "people",
};
const groups = Object.keys(titles) as SetUp["group"][];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    set: { type: "string", default: "judging" },
    only: { type: "string" },
    group: { type: "string" },
    visits: { type: "string" },
    minutes: { type: "string", default: "600" },
    parallel: { type: "string", default: "3" },
    each: { type: "string", default: "3" },
    details: { type: "boolean", default: false },
    usual: { type: "boolean", default: false },
    tls: { type: "boolean", default: false },
  },
});
const set = values.set as PageSet;
const folder = `${here}recordings/${set}`;
const [action = "all"] = positionals;

/** One visit as it was recorded. A farm's recording has many visits. */
type Recording = {
  name: string;
  group: SetUp["group"];
  key: string;
  requests: Recorded[];
  botd: boolean | null;
  userAgents: string[];
};

const chosen = setUps.filter(
  ({ name, group }) => (!values.only || name.includes(values.only)) && (!values.group || group === values.group),
);
const usualVisits: Record<PageSet, Record<SetUp["group"], number>> = {
  tuning: { browser: 2, program: 3, farm: 1, attack: 0, person: 1 },
  judging: { browser: 3, program: 3, farm: 1, attack: 3, person: 8 },
};
const fileOf = (name: string, of: PageSet = set) => `${here}recordings/${of}/${name.replaceAll(/[^a-zA-Z0-9]+/g, "-")}.json`;

/** Every set-up is visited once before any is visited again, so that a recording that stops early has all of them. */
async function record(): Promise<void> {
  // Tools that are closed in the middle of a request must not end the others.
  process.on("uncaughtException", (error) => console.error(error.message));
  mkdirSync(folder, { recursive: true });
  const relay = await startBenchRelay(Date.now, () => {});
  const displays = await Promise.all(
    Array.from({ length: Number(values.parallel) }, (_, n) => startDisplay(140 + (process.pid % 400) + n)),
  );
  const recorded = new Map(chosen.map((setUp) => [setUp, readRecordings(setUp, set)]));
  const missing = chosen.flatMap((setUp) => {
    const wanted = Number(values.visits ?? usualVisits[set][setUp.group]);
    const known = recorded.get(setUp)?.length ?? 0;
    const each = setUp.group === "person" ? Number(values.each) : 1;
    const starts = Math.ceil(Math.max(0, wanted - known) / each);
    return Array.from({ length: starts }, (_, start) => {
      const n = known + start * each;
      return { setUp, n, count: Math.min(each, wanted - n) };
    });
  });
  const queue = missing.toSorted((one, other) => one.n - other.n);
  const until = Date.now() + Number(values.minutes) * minuteMs;
  const work = async (display: Display) => {
    for (let next = queue.shift(); next && Date.now() < until; next = queue.shift()) {
      const recordings = await recordVisits(next, relay.port, display);
      const { setUp } = next;
      const all = recorded.get(setUp) ?? [];
      // A browser that did not start is no visit.
      all.push(...recordings.filter(({ requests }) => requests.length > 0));
      if (all.length > 0) writeFileSync(fileOf(setUp.name), JSON.stringify(all));
    }
  };
  await Promise.all(displays.map(work));
  displays.forEach((display) => display.stop());
  await relay.stop();
}

type Start = { setUp: SetUp; n: number; count: number };

/** The visits of one start of a browser or program. */
async function recordVisits({ setUp, n, count }: Start, relayPort: number, display: Display): Promise<Recording[]> {
  const recordings: Recording[] = [];
  let requests: Recorded[] = [];
  const front = await openFront({
    relayPort,
    pages: pagesOf(set),
    strips: setUp.strips ?? [],
    onRequest: (request) => requests.push(request),
  });
  const visit: Visit = { key: "", set, front, display: display.name, url: "", email: "" };
  function begin(): void {
    visit.key = `${setUp.name} ${n + recordings.length}`;
    visit.url = adUrl();
    visit.email = `robin.${Math.random().toString(36).slice(2, 8)}@example.com`;
    requests = [];
    front.begin(visit.key, addressIn(setUp.network));
  }
  function end(): void {
    const { key } = visit;
    const paths = requests.flatMap(({ method, path }) => (method === "POST" ? path.replace("/__cc/", "") : []));
    console.log(`${new Date().toISOString().slice(11, 19)} ${key}: ${paths.length > 9 ? paths.length : paths.join(" ")}`);
    const botd = front.news.find((one) => one.botd !== undefined)?.botd ?? null;
    recordings.push({ name: setUp.name, group: setUp.group, key, requests, botd, userAgents: [...front.userAgents] });
  }
  async function next(): Promise<boolean> {
    // On a busy machine the last report takes a while, and must not become the next person's.
    const isSent = () => requests.some(({ path }) => path === "/__cc/identify");
    for (let tries = 0; setUp.hasForm && !isSent() && tries < 100; tries++) await sleep(100);
    end();
    if (recordings.length >= count) return false;
    begin();
    return true;
  }
  begin();
  const failure = await Promise.race([
    setUp.run(visit, next).then(
      () => null,
      (error: unknown) => error,
    ),
    sleep(setUp.group === "farm" ? 400_000 : 60_000 + 90_000 * count).then(() => new Error("took too long")),
  ]);
  await front.close();
  if (failure) console.error(`${visit.key}: ${(failure as Error).message.slice(0, 300)}`);
  // Tools and programs make one visit, and do not say when it ends.
  if (recordings.length < count && (failure || recordings.length === 0)) end();
  return recordings;
}

/** Sets are recorded by several processes: each recording gets an address of its own. */
function readRecordings({ name, network, isEmulated }: SetUp, of: PageSet): Recording[] {
  if (!existsSync(fileOf(name, of))) return [];
  const recordings = JSON.parse(readFileSync(fileOf(name, of), "utf8")) as Recording[];
  for (const { requests } of recordings) {
    const address = addressIn(network);
    for (const request of requests) request.address = address;
    if (isEmulated) requests.forEach((request) => nameAlike(request, requests[0] as Recorded));
  }
  return recordings;
}

/** A page that is left sends its last report when its emulation has ended: under the name of this machine's browser, as no phone would. */
function nameAlike(request: Recorded, first: Recorded): void {
  const valueOf = ({ headers }: Recorded, name: string) => headers[headers.indexOf(name) + 1];
  if (valueOf(request, "user-agent") === valueOf(first, "user-agent")) return;
  for (const name of ["user-agent", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"]) {
    const at = request.headers.indexOf(name);
    if (at >= 0) request.headers.splice(at, 2, ...(first.headers.includes(name) ? [name, valueOf(first, name) as string] : []));
  }
}

type Outcome = {
  name: string;
  group: SetUp["group"];
  visits: number;
  bots: number;
  hard: number;
  botd: string;
  isbot: number;
  reasons: string[];
};

async function judge(settings: Record<string, string>): Promise<Outcome[]> {
  const recordings = chosen.flatMap((setUp) => readRecordings(setUp, set));
  const byAddress = new Map<string, Judged[]>();
  let now = 0;
  const relay = await startBenchRelay(
    () => now,
    (judged) => byAddress.set(judged.address, [...(byAddress.get(judged.address) ?? []), judged]),
    settings,
  );
  const requests = recordings.flatMap((recording) => recording.requests).toSorted((one, other) => one.at - other.at);
  // People of the other set came before: the relay knows a site by its visitors.
  const earlier = people.flatMap((setUp) => readRecordings(setUp, set === "judging" ? "tuning" : "judging"));
  // The store refuses what is too late by the real clock, so the recording happens in the future.
  const later = Date.now() + hourMs - (requests[0]?.at ?? 0);
  now = Date.now();
  const send = (request: Recorded) =>
    new Promise<void>((resolve, reject) => {
      const handshake = values.tls && request.offered ? ["x-client-ciphers", request.offered] : [];
      sendToRelay(relay.port, { ...request, headers: [...request.headers, ...handshake] }, () => resolve()).on("error", reject);
    });
  for (const request of earlier.flatMap((recording) => recording.requests)) await send(request);
  for (const request of requests) {
    now = request.at + later;
    await send(request);
  }
  await relay.stop();
  const { isbot } = await load("isbot");
  return [...Map.groupBy(recordings, ({ name }) => name).values()].map((some) => outcomeOf(some, byAddress, isbot));
}

const isVisit = ({ method, path }: Recorded) => method === "POST" && path === "/__cc/visit";

function outcomeOf(recordings: Recording[], byAddress: Map<string, Judged[]>, isbot: (agent: string) => boolean): Outcome {
  const [{ name, group }] = recordings as [Recording];
  const outcome: Outcome = { name, group, visits: 0, bots: 0, hard: 0, botd: "–", isbot: 0, reasons: [] };
  const reasons = new Map<string, number>();
  for (const { requests } of recordings) {
    const judged = byAddress.get(requests[0]?.address ?? "") ?? [];
    const bots = judged.filter(({ judgement }) => judgement.verdict.bot);
    // A visit of a farm is one report of a visit; a visit of a set-up is a bot's when any of its reports is.
    const visits = group === "farm" ? requests.filter(isVisit).length : 1;
    outcome.visits += visits;
    outcome.bots += group === "farm" ? Math.min(bots.length, visits) : Math.min(bots.length, 1);
    outcome.hard += bots.some(({ judgement }) => judgement.findings.some(({ signal }) => signal.points === "hard")) ? 1 : 0;
    for (const reason of new Set(
      judged.flatMap(({ judgement }) => judgement.findings.map(({ signal }) => `${signal.category}:${signal.name}`)),
    ))
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  outcome.isbot = recordings.filter(({ userAgents }) => userAgents.some((agent) => isbot(agent))).length;
  const asked = recordings.filter(({ botd }) => botd !== null);
  if (asked.length) outcome.botd = `${asked.filter(({ botd }) => botd).length}/${asked.length}`;
  outcome.reasons = [...reasons].toSorted((one, other) => other[1] - one[1]).map(([reason, count]) => `${reason}×${count}`);
  return outcome;
}

function sumUp(outcomes: Outcome[], group: SetUp["group"]) {
  const some = outcomes.filter((one) => one.group === group);
  const total = (count: (one: Outcome) => number) => some.reduce((sum, one) => sum + count(one), 0);
  const recognised = (count: (one: Outcome) => number, of: (one: Outcome) => number = (one) => one.visits) =>
    some.filter((one) => of(one) > 0 && count(one) >= (2 / 3) * of(one)).length;
  const botd = (part: 0 | 1) => (one: Outcome) => (one.botd === "–" ? 0 : Number(one.botd.split("/")[part]));
  const asked = some.filter((one) => one.botd !== "–").length;
  return {
    setUps: some.length,
    recognised: recognised((one) => one.bots),
    visits: total((one) => one.visits),
    bots: total((one) => one.bots),
    hard: total((one) => one.hard),
    botd: asked ? `${recognised(botd(0), botd(1))} of ${asked}` : "–",
    isbot: some.filter((one) => one.isbot > 0).length,
  };
}

const accuracyPage = new URL("../../docs/explanation/bot-detection-accuracy.md", import.meta.url);

/** Writes the rows of the groups that have recordings; the others stay, with the rules by which they were judged. */
function publish(usual: Outcome[], allOn: Outcome[]): void {
  let text = readFileSync(accuracyPage, "utf8");
  for (const group of groups) {
    const [begins, on] = [sumUp(usual, group), sumUp(allOn, group)];
    if (on.setUps === 0) continue;
    const counts = (of: typeof on) => {
      if (group === "person") return `${of.bots} of ${of.visits} flagged, ${of.hard} hard`;
      return group === "farm" ? `${of.bots} of ${of.visits}` : `${of.recognised} of ${of.setUps}`;
    };
    const cells = [titles[group], on.setUps, on.visits, counts(begins), counts(on), on.botd, on.isbot, rulesVersion];
    const row = `| ${cells.join(" | ")} |`;
    const known = new RegExp(`^\\| ${titles[group]} \\|.*$`, "m");
    if (!known.test(text)) throw new Error(`The table has no row for ${titles[group]}`);
    text = text.replace(known, row);
  }
  writeFileSync(accuracyPage, text);
}

function print(outcomes: Outcome[]): void {
  const rows = groups.map((group) => {
    const { setUps: count, recognised, visits, bots, botd, isbot } = sumUp(outcomes, group);
    return [titles[group], String(count), String(recognised), `${bots} of ${visits}`, botd, String(isbot)];
  });
  const lines = outcomes.map((one) => [
    titles[one.group],
    one.name,
    `${one.bots}/${one.visits}`,
    one.botd,
    String(one.isbot),
    values.details ? one.reasons.join("; ") : "",
  ]);
  console.log(tableText({ head: ["group", "set-up", "recognised", "BotD", "isbot", "evidence"], rows: lines }));
  console.log();
  console.log(tableText({ head: ["group", "set-ups", "recognised", "visits", "BotD", "isbot"], rows }));
  console.log(
    `\nA set-up is recognised when two thirds of its visits are. Set: ${set}. ${["@fingerprintjs/botd", "isbot", "puppeteer-core", "playwright-core"].map((name) => `${name} ${versionOf(name)}`).join(", ")}.`,
  );
}

if (action === "all" && !values.only) rmSync(folder, { recursive: true, force: true });
const allEvidence = { evidence: "all=on" };
if (action === "all" || action === "record") await record();
if (action === "publish") publish(await judge({}), await judge(allEvidence));
else if (action !== "record") print(await judge(values.usual ? {} : allEvidence));
process.exit(0);

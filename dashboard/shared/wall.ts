// The wall: numbers of today and the newest conversions on a screen that nobody touches. It must go on by itself: while the relay is
// away it shows the last numbers with a quiet sign, tries again with growing pauses, and loads itself again when its version changes,
// but only when the relay answers, so that no error page of a browser stays on the screen.

import type { WallData, WallEvent } from "../../src/api/sharing/wall.ts";
import { percentText } from "../../src/kernel/text.ts";
import type { ReportTexts } from "../../src/sharing/texts.ts";

type Data = WallData & { version: string; texts: ReportTexts["wall"]; locale: string };

const wall = document.querySelector<HTMLElement>("#wall");
const link = `/wall/${wall?.dataset["link"] ?? ""}`;
const find = (id: string) => document.getElementById(id) as HTMLElement;

const readMs = 10_000;
const maxPauseMs = 60_000;
const maxLines = 14;
const maxNamed = 2;
/** Longer names would leave no room for the event's. */
const maxLetters = 16;

let version: string | null = null;
let shown: Data | null = null;
let failures = 0;
let source: EventSource | null = null;

const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
/** Screens that lost the relay at the same moment do not come back at the same moment. */
const pause = () => Math.min(maxPauseMs, 2000 * 2 ** Math.min(failures, 5)) * (0.5 + Math.random());

async function readData(): Promise<void> {
  const answer = await fetch(`${link}/data`, { signal: AbortSignal.timeout(15_000) }).catch(() => null);
  if (answer?.status === 404) return location.reload();
  if (!answer?.ok) throw new Error("away");
  const data = (await answer.json()) as Data;
  if (version !== null && version !== data.version) return location.reload();
  version = data.version;
  shown = data;
  draw(data);
}

async function readForever(): Promise<void> {
  for (;;) {
    try {
      await readData();
      failures = 0;
      find("away").hidden = true;
      listen();
      await wait(readMs);
    } catch {
      failures += 1;
      // A single missed answer is no news.
      find("away").hidden = failures < 2;
      source?.close();
      source = null;
      await wait(pause());
    }
  }
}

/** The stream only brings lines sooner: what it misses, the next reading has. */
function listen(): void {
  if (source) return;
  const opened = new EventSource(`${link}/feed`);
  source = opened;
  opened.addEventListener("message", ({ data }) => show(JSON.parse(String(data)) as WallEvent));
  // The next reading opens it again, not the browser: that waits between attempts as long as it should.
  opened.addEventListener("error", () => {
    opened.close();
    if (source === opened) source = null;
  });
}

const element = (tag: string, name: string, text = ""): HTMLElement => {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
};

const count = (value: number) => new Intl.NumberFormat(shown?.locale).format(value);

const money = ({ currency, value }: { currency: string; value: number }) =>
  new Intl.NumberFormat(shown?.locale, {
    style: "currency",
    currency,
    ...(Math.abs(value) >= 100 ? { maximumFractionDigits: 0 } : {}),
  }).format(value);

function write(id: string, text: string): void {
  const place = find(id);
  if (place.textContent === text) return;
  place.textContent = text;
  if (place.classList.contains("huge")) fit(place);
}

/** A long sum gets smaller letters instead of a second line. */
function fit(place: HTMLElement): void {
  place.style.fontSize = "";
  const { clientWidth, scrollWidth } = place;
  if (scrollWidth > clientWidth)
    place.style.fontSize = `${Math.floor((Number.parseFloat(getComputedStyle(place).fontSize) * clientWidth) / scrollWidth) - 1}px`;
}

/** Leaves out the last lines where they do not fit whole. A page that scrolls has room for all. */
function cutToFit(list: HTMLElement): void {
  const section = list.parentElement;
  while (section && section.scrollHeight > section.clientHeight + 1 && list.childElementCount > 1)
    list.lastElementChild?.remove();
}

function draw({ today, yesterday, recent, texts, locale }: Data): void {
  const accepted = today.connections.reduce((sum, one) => sum + one.accepted, 0);
  const deliverable = today.connections.reduce((sum, one) => sum + one.deliverable, 0);
  write("conversions", count(today.conversions));
  write("before", `${count(yesterday.conversions)} ${texts.yesterday}`);
  const [value] = today.values;
  const before = yesterday.values.find(({ currency }) => currency === value?.currency);
  write("value", value ? money(value) : "–");
  write("valueBefore", before ? `${money(before)} ${texts.yesterday}` : "");
  write("accepted", deliverable === 0 ? "–" : percentText(accepted, deliverable, locale));
  write("acceptedOf", deliverable === 0 ? "" : `${count(accepted)} / ${count(deliverable)}`);
  drawFunnel(today, texts);
  for (const event of recent.toReversed()) show(event);
  find("quiet").hidden = find("ticker").childElementCount > 0;
  tick();
}

function drawFunnel(today: Data["today"], texts: Data["texts"]): void {
  const whole = Math.max(today.received, 1);
  const steps = [
    { name: texts.received, part: today.received, missing: 0 },
    { name: texts.kept, part: today.conversions, missing: 0 },
    ...today.connections
      .filter(({ deliverable }) => deliverable > 0)
      .slice(0, 6)
      .map(({ name, accepted, deliverable }) => ({ name, part: accepted, missing: deliverable - accepted })),
  ];
  find("funnel").replaceChildren(
    ...steps.map(({ name, part, missing }) => {
      const line = element("li", "step");
      const bar = element("div", "bar");
      const through = element("i", "through");
      const lost = element("i", "lost");
      through.style.width = `${(part / whole) * 100}%`;
      lost.style.width = `${(missing / whole) * 100}%`;
      bar.append(through, lost);
      line.append(element("span", "name", name), bar, element("span", "count", count(part)));
      return line;
    }),
  );
  cutToFit(find("funnel"));
}

/** Adds a line, or changes the one that is there: deliveries settle while it is shown. */
function show(event: WallEvent): void {
  if (!shown) return;
  const ticker = find("ticker");
  const known = ticker.querySelector<HTMLElement>(`[data-key="${CSS.escape(event.key)}"]`);
  const line = known ?? element("li", "line");
  line.classList.toggle("new", !known);
  line.dataset["key"] = event.key;
  line.dataset["at"] = String(event.at);
  line.replaceChildren(
    element("time", "", new Intl.DateTimeFormat(shown.locale, { timeZone: shown.timeZone, timeStyle: "short" }).format(event.at)),
    element("span", "event", event.event),
    element("span", "money", event.value === null ? "" : money({ currency: event.currency, value: event.value })),
    verdicts(event, shown.texts),
  );
  if (known) return;
  const below = [...ticker.children].find((one) => Number((one as HTMLElement).dataset["at"]) <= event.at);
  ticker.insertBefore(line, below ?? null);
  while (ticker.childElementCount > maxLines) ticker.lastElementChild?.remove();
  cutToFit(ticker);
  find("quiet").hidden = true;
}

/** Names few platforms each; of many, only those that did not accept. */
function verdicts({ isFiltered, deliveries }: WallEvent, texts: Data["texts"]): HTMLElement {
  const list = element("span", "verdicts");
  const mark = (state: string, text: string) => {
    const made = element("b", state, text);
    made.title = texts.states[state as keyof typeof texts.states] ?? state;
    list.append(made);
  };
  if (isFiltered) list.append(element("b", "filtered", texts.filtered));
  const due = deliveries.filter((one) => one.state !== "skipped");
  const ofState = (...states: string[]) => due.filter(({ state }) => states.includes(state));
  const letters = due.reduce((sum, { platform }) => sum + platform.length, 0);
  if (due.length <= maxNamed && letters <= maxLetters) for (const { platform, state } of due) mark(state, platform);
  else {
    for (const { platform, state } of ofState("rejected", "expired").slice(0, maxNamed)) mark(state, platform);
    const waiting = ofState("queued", "parked").length;
    if (waiting > 0) mark("queued", count(waiting));
    mark("sent", `${count(ofState("sent").length)} / ${count(due.length)}`);
  }
  return list;
}

function tick(): void {
  if (shown)
    write(
      "clock",
      new Intl.DateTimeFormat(shown.locale, {
        timeZone: shown.timeZone,
        weekday: "long",
        hour: "2-digit",
        minute: "2-digit",
      }).format(Date.now()),
    );
}

setInterval(tick, 1000);
addEventListener("resize", () => {
  for (const place of document.querySelectorAll<HTMLElement>(".huge")) fit(place);
});
void readForever();
// Installed, it opens also while the relay is away.
void navigator.serviceWorker?.register("/shared/worker.js", { scope: link }).catch(() => {});

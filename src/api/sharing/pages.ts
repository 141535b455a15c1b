// Writes the pages of shared links as HTML. They contain no script and no style of their own: both are files of this server.

import { escapeHtml, type ReportLanguage } from "../../kernel/text.ts";
import { isLoss, type CauseCount, type SharedConnection, type SharedReport } from "../../sharing/report.ts";
import { summarize, type Writer } from "../../sharing/sentences.ts";
import type { ReportTexts } from "../../sharing/texts.ts";
import type { Site } from "../../sites/directory.ts";
import type { SharedLink } from "../../store/sharing/sharedLinks.ts";

const e = escapeHtml;

type Shell = { language: ReportLanguage; title: string; style: "report" | "wall"; script?: string; head?: string };

const page = ({ language, title, style, script, head = "" }: Shell, body: string) => `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="robots" content="noindex, nofollow">
<meta name="color-scheme" content="light dark">
<title>${e(title)}</title>
<link rel="icon" href="/shared/icon.svg">
<link rel="stylesheet" href="/shared/${style}.css">
${head}${script === undefined ? "" : `<script type="module" src="/shared/${script}"></script>\n`}</head>
<body>
${body}
</body>
</html>
`;

/** The same for every link, whether it works or not: its script finds out. */
export function openerPage({ open: texts, report }: ReportTexts, language: ReportLanguage): string {
  return page(
    { language, title: texts.title, style: "report", script: "open.js" },
    `<main class="opener">
<p class="brand">${e(report.by)}</p>
<div data-state="opening"><h1>${e(texts.opening)}</h1></div>
<div data-state="ended" hidden><h1>${e(texts.ended)}</h1><p>${e(texts.endedMore)}</p></div>
<div data-state="tooMany" hidden><h1>${e(texts.tooMany)}</h1></div>
<div data-state="away" hidden><h1>${e(texts.away)}</h1></div>
<form data-state="password" hidden>
<h1>${e(texts.passwordMore)}</h1>
<label for="password">${e(texts.password)}</label>
<input id="password" type="password" maxlength="200" required autocomplete="off" aria-describedby="wrong">
<p id="wrong" role="alert" hidden>${e(texts.wrong)}</p>
<button type="submit">${e(texts.open)}</button>
</form>
<noscript><p>${e(texts.script)}</p></noscript>
</main>`,
  );
}

export function reportPage(
  report: SharedReport,
  write: Writer,
  { link, madeAt }: { link: Pick<SharedLink, "id" | "expiresAt">; madeAt: number },
): string {
  const { texts, language } = write;
  const t = texts.report;
  const title = report.orders === null ? t.titleOfEvents : t.title;
  const [first = "", ...more] = summarize(report, write);
  const isEmpty = report.received === 0 && (report.orders ?? 0) === 0;
  return page(
    { language, title: `${report.host}: ${title}`, style: "report" },
    `<main>
<header>
<div><p class="host">${e(report.host)}</p><h1>${e(title)}</h1><p class="quiet">${e(write.period(report))}</p></div>
<a class="button" href="/report/${e(link.id)}/report.pdf" download>${e(t.pdf)}</a>
</header>
${isEmpty ? `<p class="lead">${e(t.nothing)}</p>` : `<p class="lead"><strong>${e(first)}</strong> ${e(more.join(" "))}</p>${totals(report, write)}`}
<section aria-labelledby="platforms">
<h2 id="platforms">${e(t.platforms)}</h2>
${report.connections.length === 0 ? `<p class="quiet">${e(t.noPlatform)}</p>` : `<ul class="platforms">${report.connections.map((one) => connection(one, write)).join("")}</ul>`}
</section>
<footer>
<p>${e(t.made(write.time(madeAt)))}</p>
<p>${e(t.expires(write.day(link.expiresAt)))}</p>
</footer>
</main>`,
  );
}

function totals(report: SharedReport, write: Writer): string {
  const t = write.texts.report;
  const { orders, received, conversions, values, causes } = report;
  const whole = orders ?? received;
  const step = (label: string, count: number, hint: string) =>
    `<li><span class="label">${e(label)}</span><span class="number">${e(write.count(count))}</span><span class="quiet">${e(hint)}</span>${bar(count, 0, whole)}</li>`;
  return `<ol class="steps">
${orders === null ? "" : step(t.orders, orders, write.moneys(values))}
${step(t.received, received, orders === null ? write.moneys(values) : write.percent(received, orders))}
${step(t.conversions, conversions, received === 0 ? "" : write.percent(conversions, received))}
</ol>${causeList(causes, write)}`;
}

/** Bars are drawings, whose sizes are attributes: the page's policy allows no inline styles. */
function bar(through: number, missing: number, whole: number): string {
  const share = (part: number) => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100);
  return (
    `<svg class="bar" aria-hidden="true" viewBox="0 0 100 1" preserveAspectRatio="none">` +
    `<rect class="ground" width="100" height="1"/><rect class="through" width="${share(through)}" height="1"/>` +
    `<rect class="lost" x="${share(through)}" width="${share(missing)}" height="1"/></svg>`
  );
}

function connection(one: SharedConnection, write: Writer): string {
  const t = write.texts.report;
  const { name, accepted, deliverable, confirmed, worth, missed, causes } = one;
  const fact = (label: string, text: string, isBad = false) =>
    `<div${isBad ? ' class="bad"' : ""}><dt>${e(label)}</dt><dd>${e(text)}</dd></div>`;
  return `<li>
<div class="name"><h3>${e(name)}</h3><p><span class="percent">${deliverable === 0 ? "–" : e(write.percent(accepted, deliverable))}</span> <span class="quiet">${deliverable === 0 ? "" : e(t.of(write.count(accepted), write.count(deliverable)))}</span></p></div>
${deliverable === 0 ? "" : bar(accepted, deliverable - accepted, deliverable)}
<dl>${worth.length > 0 ? fact(t.money, write.moneys(worth)) : ""}${missed.length > 0 ? fact(t.missed, write.moneys(missed), true) : ""}${confirmed === null ? "" : fact(t.accepted, t.confirmed(write.count(confirmed)))}</dl>
${accepted >= deliverable && deliverable > 0 ? `<p class="good">${e(t.nothingMissing)}</p>` : ""}
${causeList(causes, write)}
</li>`;
}

function causeList(causes: readonly CauseCount[], { texts, count }: Writer): string {
  const group = (title: string, kind: string, list: readonly CauseCount[]) =>
    list.length === 0
      ? ""
      : `<div class="causes ${kind}"><h4>${e(title)}</h4><ul>${list
          .map((one) => `<li><span class="count">${e(count(one.count))}</span> ${e(texts.causes[one.cause])}</li>`)
          .join("")}</ul></div>`;
  const losses = causes.filter(isLoss);
  const others = causes.filter((one) => !isLoss(one));
  return group(texts.report.losses, "losses", losses) + group(texts.report.others, "others", others);
}

/** The script fills it. */
export function wallPage({ texts, language }: Writer, { hosts, id }: Site, link: string): string {
  const t = texts.wall;
  return page(
    {
      language,
      title: `${hosts[0] ?? id}: ${t.title}`,
      style: "wall",
      script: "wall.js",
      head:
        `<link rel="manifest" href="/wall/${e(link)}/manifest.webmanifest" crossorigin="use-credentials">\n` +
        `<link rel="apple-touch-icon" href="/shared/icon-192.png">\n<meta name="theme-color" content="#14171b">\n`,
    },
    `<main id="wall" data-link="${e(link)}">
<header><h1>${e(hosts[0] ?? id)}</h1><p id="away" role="status" hidden><span></span>${e(t.away)}</p><p id="clock"></p></header>
<section class="numbers" aria-label="${e(t.today)}">
<div><h2>${e(t.conversions)}</h2><p class="huge" id="conversions">–</p><p class="hint" id="before"></p></div>
<div><h2>${e(t.value)}</h2><p class="huge" id="value">–</p><p class="hint" id="valueBefore"></p></div>
<div><h2>${e(t.accepted)}</h2><p class="huge" id="accepted">–</p><p class="hint" id="acceptedOf"></p></div>
</section>
<section class="funnel" aria-labelledby="funnelTitle"><h2 id="funnelTitle">${e(t.funnel)}</h2><ol id="funnel"></ol></section>
<section class="ticker" aria-labelledby="tickerTitle"><h2 id="tickerTitle">${e(t.ticker)}</h2><ol id="ticker" aria-live="off"></ol><p id="quiet" hidden>${e(t.quiet)}</p></section>
</main>`,
  );
}

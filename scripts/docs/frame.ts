// Builds the HTML around the text of every page: the head, the navigation, and links to the previous and next page.

import { escapeHtml } from "../../src/kernel/text.ts";
import type { Listed, Section } from "./contents.ts";
import { slugOf, type Page } from "./page.ts";

export function frame(
  page: Page,
  sections: readonly Section[],
  order: readonly Listed[],
  assets: ReadonlyMap<string, string>,
): string {
  const isHome = page.name === "index";
  const title = isHome ? "Cleancast documentation" : `${page.title} · Cleancast`;
  const place = order.findIndex((one) => one.page === page);
  const section = sections.find((one) => one.pages.some((listed) => listed.page === page));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.summary.slice(0, 200))}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${assets.get("icon.svg")}" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="/docs/${page.name}.md">
<link rel="describedby" type="text/markdown" href="/docs/llms.txt">
<link rel="stylesheet" href="${assets.get("site.css")}">
<script src="${assets.get("theme.js")}"></script>
<script src="${assets.get("site.js")}" data-index="/docs/search.json" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button class="icon menu" aria-expanded="false" aria-controls="sections" aria-label="Sections"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M4 7h16M4 12h16M4 17h16"/></svg></button>
<a class="brand" href="/docs/"><img src="${assets.get("icon.svg")}" width="24" height="24" alt=""><span>Cleancast</span><span class="quiet">Docs</span></a>
<div class="search" role="search">
<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="11" cy="11" r="6.5"/><path d="m16 16 4.5 4.5"/></svg>
<input type="search" placeholder="Search" aria-label="Search the documentation" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list" autocomplete="off" spellcheck="false">
<kbd>/</kbd>
<div id="found" role="listbox" aria-label="Search results" hidden></div>
</div>
<button class="icon theme" aria-label="Light or dark"><svg class="sun" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4"/></svg><svg class="moon" viewBox="0 0 24 24" aria-hidden="true"><path d="M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z"/></svg></button>
<a class="dashboard" href="/dashboard/">Dashboard</a>
</header>
<div class="page">
<nav id="sections" aria-label="Sections">
${sections.map((one) => group(one, page)).join("\n")}
</nav>
<main id="content" tabindex="-1">
<article${isHome ? ' class="home"' : ""}>
${section ? `<p class="crumb">${escapeHtml(section.title)}</p>\n` : ""}${isHome ? home(sections) : page.html}</article>
${place >= 0 ? previousAndNext(order[place - 1], order[place + 1]) : ""}</main>
${isHome ? "" : onThisPage(page)}
</div>
</body>
</html>
`;
}

function group({ title, pages, isQuiet }: Section, current: Page): string {
  const isHere = pages.some(({ page }) => page === current);
  const links = pages.map(
    (one) =>
      `<li><a href="${one.page.address}"${one.page === current ? ' aria-current="page"' : ""}>${escapeHtml(one.title)}</a></li>`,
  );
  const isOpen = isHere || !(isQuiet || pages.length > 12);
  return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary><ul>${links.join("")}</ul></details>`;
}

function onThisPage({ headings }: Page): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return "<aside></aside>";
  const links = shown.map(({ depth, id, title }) => `<li class="depth${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`);
  return `<aside aria-label="On this page"><p>On this page</p><ul>${links.join("")}</ul></aside>`;
}

function previousAndNext(previous: Listed | undefined, next: Listed | undefined): string {
  const card = (listed: Listed | undefined, word: string) =>
    listed
      ? `<a class="${word.toLowerCase()}" href="${listed.page.address}"><span>${word}</span>${escapeHtml(listed.title)}</a>`
      : "<span></span>";
  return `<nav class="pager" aria-label="Previous and next page">${card(previous, "Previous")}${card(next, "Next")}</nav>\n`;
}

/** Builds the first page: the lists of all sections. */
function home(sections: readonly Section[]): string {
  const cards = sections
    .filter(({ isQuiet }) => !isQuiet)
    .map(({ title, pages }) => {
      const links = pages.map((one) => `<li><a href="${one.page.address}">${escapeHtml(one.title)}</a></li>`);
      return `<section><h2 id="${slugOf(title)}">${escapeHtml(title)}</h2><ul>${links.join("")}</ul></section>`;
    });
  return `<h1>Clean conversions, cast everywhere.</h1>
<p class="lead">Cleancast takes conversions from your systems, finds the ad click behind them, honours consent, removes bots, and delivers to
every platform, with each platform's verdict in the answer.</p>
<p class="begin"><a class="button" href="/docs/tutorials/quick-start">Quick start</a><a class="button plain" href="/docs/explanation/concepts">Concepts</a><a class="button plain" href="/docs/how-to/troubleshooting">Troubleshooting</a></p>
<div class="cards">
${cards.join("\n")}
</div>
`;
}

// Runs the search (build.ts puts src/mcp/rankParts.ts before this), the copy buttons, the sections on a phone, and the mark in "On this page".

const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const createNode = (tag, properties, ...children) => {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
};

document.querySelector(".theme").addEventListener("click", () => window.switchTheme());

// Sections on a phone.
const menu = document.querySelector(".menu");
const showSections = (isOpen) => {
  document.body.classList.toggle("sections-open", isOpen);
  menu.setAttribute("aria-expanded", String(isOpen));
};
menu.addEventListener("click", () => showSections(!document.body.classList.contains("sections-open")));
document.querySelector("main").addEventListener("click", () => showSections(false));
const current = document.querySelector('#sections [aria-current="page"]');
const sections = document.querySelector("#sections");
if (current && current.offsetTop > sections.clientHeight - 80) sections.scrollTop = current.offsetTop - sections.clientHeight / 2;

// Copy.
for (const block of all(".code")) {
  const button = createNode("button", { className: "copy", textContent: "Copy", type: "button" });
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.append(button);
}

// On this page.
const marks = new Map(all("aside a").map((link) => [link.hash.slice(1), link]));
if (marks.size) {
  const headings = all("article h2[id], article h3[id]");
  const mark = () => {
    const above = headings.findLast((heading) => heading.getBoundingClientRect().top < 120);
    for (const [id, link] of marks) link.toggleAttribute("data-here", id === above?.id);
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// Search.
const field = document.querySelector(".search input");
const list = document.querySelector("#found");
const indexAddress = document.currentScript?.dataset.index ?? document.querySelector("script[data-index]").dataset.index;
let index = null;
let active = -1;

const load = () => (index ??= fetch(indexAddress).then((answer) => answer.json()));

function excerpt(text, words) {
  const plain = folded(text);
  const places = words.map((word) => plain.indexOf(word)).filter((place) => place >= 0);
  const first = places.length ? Math.min(...places) : 0;
  // Starts at the beginning of a word.
  const from = first < 60 ? 0 : text.lastIndexOf(" ", first - 40) + 1;
  return `${from ? "… " : ""}${text.slice(from, from + 140)}${text.length > from + 140 ? " …" : ""}`;
}

/** Marks the words with nodes, so that no text is parsed as HTML. */
function marked(text, words) {
  const plain = folded(text);
  if (plain.length !== text.length) return [text];
  const pieces = [];
  let end = 0;
  while (end < text.length) {
    const next = words
      .map((word) => [plain.indexOf(word, end), word.length])
      .filter(([place]) => place >= 0)
      .toSorted((a, b) => a[0] - b[0])[0];
    if (!next) break;
    pieces.push(text.slice(end, next[0]), createNode("mark", { textContent: text.slice(next[0], next[0] + next[1]) }));
    end = next[0] + next[1];
  }
  return [...pieces, text.slice(end)];
}

async function search() {
  const parts = await load();
  const words = wordsOf(field.value);
  if (words.length === 0) return show([]);
  const rows = rankParts(parts, field.value, 8).map((part, i) =>
    createNode(
      "a",
      { href: part.u, id: `found-${i}`, role: "option", className: "row" },
      createNode("span", { className: "where" }, ...marked(part.h ? `${part.t} › ${part.h}` : part.t, words)),
      createNode("span", { className: "what" }, ...marked(excerpt(part.x, words), words)),
    ),
  );
  show(rows.length ? rows : [createNode("p", { textContent: `Nothing found for “${field.value.trim()}”.` })]);
}

function show(rows) {
  list.replaceChildren(...rows);
  list.hidden = rows.length === 0;
  field.setAttribute("aria-expanded", String(rows.length > 0));
  choose(-1);
}

function choose(next) {
  const rows = all(".row", list);
  active = next < 0 || rows.length === 0 ? -1 : next % rows.length;
  for (const [i, row] of rows.entries()) row.setAttribute("aria-selected", String(i === active));
  if (active >= 0) rows[active].scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", active >= 0 ? `found-${active}` : "");
}

field.addEventListener("focus", () => void load());
field.addEventListener("input", () => void search());
field.addEventListener("keydown", (event) => {
  const rows = all(".row", list);
  if (event.key === "ArrowDown") choose(active + 1);
  else if (event.key === "ArrowUp") choose(active <= 0 ? rows.length - 1 : active - 1);
  else if (event.key === "Enter" && rows.length) location.href = rows[Math.max(active, 0)].href;
  else if (event.key === "Escape") {
    field.value = "";
    show([]);
    field.blur();
  } else return;
  event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) show([]);
});
list.addEventListener("click", () => show([]));
document.addEventListener("keydown", (event) => {
  const isTyping = /^(?:INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  const isCall = (event.key === "/" && !isTyping) || (event.key === "k" && (event.metaKey || event.ctrlKey));
  if (!isCall) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// A link can bring what is searched for.
const asked = new URLSearchParams(location.search).get("q");
if (asked) {
  field.value = asked.slice(0, 200);
  field.focus();
  void search();
}

// The pages of the customer's site. There are two sites with different pages and forms: one for tuning the rules, one for
// judging them.

import { readFileSync } from "node:fs";
import { here } from "./packages.ts";

export type PageSet = "tuning" | "judging";

/** Tells the benchmark where the marked elements are on the screen, and what BotD found. */
const news = `<script type="module">
import { load } from "/botd.js";
const tell = (more) => fetch("/__bench/news", { method: "POST", body: JSON.stringify({ path: location.pathname, places: places(), height: innerHeight, scale: devicePixelRatio, isFirefox: "mozInnerScreenX" in window, ...more }) });
const places = () => {
  const left = window.mozInnerScreenX ?? screenX + (outerWidth - innerWidth) / 2;
  const top = window.mozInnerScreenY ?? screenY + outerHeight - innerHeight;
  return Object.fromEntries([...document.querySelectorAll("[data-place]")].map((element) => {
    const box = element.getBoundingClientRect();
    const inPage = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    return [element.dataset.place, { x: Math.round(left + inPage.x), y: Math.round(top + inPage.y), inPage }];
  }));
};
if (location.hash) sessionStorage.helper = location.hash.slice(1);
const ready = () => setTimeout(() => tell({ ready: true }), 150);
if (document.readyState === "complete") ready(); else addEventListener("load", ready);
if (location.pathname === "/") load().then((botd) => botd.detect()).then(({ bot }) => tell({ botd: bot })).catch(() => {});
</script>`;

const page = (title: string, body: string) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><script async src="/__cc/tag.js"></script>
<style>body{font:16px sans-serif;margin:20px}input,button,a{font-size:16px;padding:6px;margin:6px 0}label{display:block}</style></head><body>${body}${news}</body></html>`;

/** What password managers and tools for text insertion do, on a key: the person presses F8. */
const helpers = (field: string, form: string) => `<script>
addEventListener("keydown", (event) => {
  const field = document.querySelector("${field}");
  const [way, text] = (sessionStorage.helper ?? "").split("=");
  if (event.key === "F8") {
    if (way === "manager" || way === "submits") {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.dispatchEvent(new Event("change", { bubbles: true }));
      if (way === "submits") document.querySelector("${form}").requestSubmit();
    } else { field.focus(); document.execCommand("insertText", false, text); }
  }
});
</script>`;

const sites: Record<PageSet, Record<string, string>> = {
  tuning: {
    "/": page(
      "Shop",
      `<h1>Shop</h1><p>Good things, sent to you.</p><p><a id="next" data-place="next" href="/offer">To the offer</a></p><p style="height:900px">More.</p>`,
    ),
    "/offer": page(
      "Offer",
      `<h1>Offer</h1><form id="form" action="/thanks" method="post"><label>Email <input id="email" data-place="email" type="email" name="email" autocomplete="email"></label>
       <button id="send" data-place="send">Send</button></form>${helpers("#email", "#form")}`,
    ),
    "/thanks": page("Thanks", "<h1>Thanks</h1>"),
  },
  judging: {
    "/": page(
      "Studio",
      `<header style="background:#eee;padding:30px">Studio</header><article><h2>Courses</h2><p style="width:500px">We teach drawing and painting, in small groups,
       for beginners and for those who have drawn for years.</p></article><nav style="margin-left:220px"><a class="book" data-place="next" href="/book">Book a course</a></nav><p style="height:1400px">Pictures.</p>`,
    ),
    "/book": page(
      "Book",
      `<h2>Book</h2><form id="booking" style="margin-left:120px"><label>Name <input name="person" data-place="name" autocomplete="name"></label><label>Your address
       <input name="mail" data-place="email" type="text" autocomplete="email"></label><label><input type="checkbox" name="news" data-place="box"> News</label>
       <p><button name="go" data-place="send">Book now</button></p></form><p id="done"></p>
       <script>document.forms[0].addEventListener("submit",(event)=>{event.preventDefault();fetch("/booked",{method:"POST",body:"x"}).then(()=>{document.querySelector("#done").textContent="Booked"})})</script>
       ${helpers("[name=mail]", "#booking")}`,
    ),
    "/booked": "ok",
  },
};

const botd = readFileSync(`${here}node_modules/@fingerprintjs/botd/dist/botd.esm.js`, "utf8");

export const pagesOf =
  (set: PageSet) =>
  (path: string): string | null =>
    path === "/botd.js" ? botd : (sites[set][path] ?? null);

/** The selectors of each site, for tools that know its pages. */
export const selectors = {
  tuning: { next: "#next", email: "#email", send: "#send", formPath: "/offer" },
  judging: { next: "a.book", email: "[name=mail]", send: "button[name=go]", formPath: "/book" },
} as const;

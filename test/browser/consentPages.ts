// Pages that ask for consent in every way that sites do: their own banner, an IAB TCF platform, Google Consent Mode.

import { pageWith } from "./site.ts";

const native = `<form action="/thanks" method="post"><input type="email" name="email"><button id="send">Send</button></form>`;
const ajax = `<form id="f"><input type="email" name="email"><button id="send">Send</button></form>
  <script>f.addEventListener("submit", (event) => event.preventDefault())</script>`;
const buttons = `<button id="refuse">Refuse</button><button id="agree">Agree</button><a id="next" href="/own-granted">Next</a>`;

/** The snippet of the installation guide: calls wait in a queue until the tag has loaded. */
export const stub = `<script>
window.cc = window.cc || { q: [] };
["identifyEmail", "consent", "eventId"].forEach((m) => cc[m] = cc[m] || ((...a) => new Promise((r) => cc.q.push([m, a, r]))));
</script>`;

const onClick = (id: string, code: string) =>
  `<script>document.getElementById("${id}").addEventListener("click", () => { ${code} })</script>`;

/** A router that removes the query before any other script reads it. */
const router = `<script>if (location.search.endsWith("strip")) history.replaceState({}, "", location.pathname)</script>`;

/** A consent platform that notifies a listener of the state soon after it was added, and after every change. */
const tcf = (state: object) => `
  const listeners = [];
  let state = ${JSON.stringify(state)};
  window.__tcfapi = (command, version, callback) => {
    if (command !== "addEventListener" || version !== 2) return callback(null, false);
    listeners.push(callback);
    setTimeout(() => callback(state, true), 20);
  };
  window.choose = (yes) => {
    state = { gdprApplies: true, eventStatus: "useractioncomplete", purpose: { consents: { 1: yes, 7: yes } } };
    listeners.forEach((callback) => callback(state, true));
  };`;
const refused = {
  gdprApplies: true,
  eventStatus: "useractioncomplete",
  purpose: { consents: { 1: true, 7: false } },
};
const granted = { gdprApplies: true, eventStatus: "tcloaded", purpose: { consents: { 1: true, 7: true } } };
const asking = { gdprApplies: true, eventStatus: "cmpuishown", purpose: { consents: {} } };

const gtag = `window.dataLayer = window.dataLayer || []; function gtag() { dataLayer.push(arguments); }`;
const all = (state: string, more = "") =>
  `{ ad_storage: "${state}", ad_user_data: "${state}", ad_personalization: "${state}", analytics_storage: "${state}"${more} }`;

export function consentPages(tagLine: string): Record<string, string> {
  const script = (code: string) => `<script>${code}</script>`;
  const withNative = (head: string, body = "") => pageWith(head + tagLine, native + buttons + body);
  const withAjax = (head: string, body: string) => pageWith(router + head + tagLine, ajax + buttons + body);
  return {
    "/plain": withNative(""),
    "/gpc": withNative(script(`Object.defineProperty(Navigator.prototype, "globalPrivacyControl", { get: () => true })`)),
    "/tcf-refused": withNative(script(tcf(refused))),
    "/tcf-granted": withNative(script(tcf(granted))),
    "/tcf-late": withNative(script(`setTimeout(() => { ${tcf(refused)} }, 700)`)),
    "/tcf-asking": withAjax(script(tcf(asking)), onClick("agree", "choose(true)")),
    "/gcm-default": withNative(script(`${gtag} gtag("consent", "default", ${all("denied")})`)),
    "/gcm-granted": withNative(script(`${gtag} gtag("consent", "default", ${all("granted")})`)),
    "/gcm-update": withNative(
      script(`${gtag} gtag("consent", "default", ${all("granted")})`),
      onClick("refuse", `gtag("consent", "update", ${all("denied")})`),
    ),
    // As a server renders the page of a visitor who agreed in its own settings.
    "/gcm-agreed": withNative(
      script(`${gtag} gtag("consent", "default", ${all("granted")}); gtag("consent", "update", ${all("granted")})`),
    ),
    // A consent platform that repeats the refusal of an earlier day.
    "/gcm-repeats": withNative(
      script(`${gtag} gtag("consent", "default", ${all("granted")});
        setTimeout(() => { gtag("consent", "update", ${all("denied")}); repeated = true; }, 500)`),
    ),
    "/gcm-late": withNative(script(`setTimeout(() => { ${gtag} gtag("consent", "default", ${all("denied")}) }, 700)`)),
    // Most consent platforms do this for a visitor who agreed on an earlier day.
    "/gcm-waits": withNative(
      script(`${gtag} gtag("consent", "default", ${all("denied", ", wait_for_update: 500")});
        setTimeout(() => gtag("consent", "update", ${all("granted")}), 300)`),
    ),
    // The same on a page that identifies the visitor, and navigates without a reload.
    "/gcm-waits-known": withNative(
      stub +
        script(`${gtag} gtag("consent", "default", ${all("denied", ", wait_for_update: 500")});
          cc.identifyEmail(new URLSearchParams(location.search).get("who"));
          addEventListener("load", () => history.pushState({}, "", "/gcm-waits-known/2"));
          setTimeout(() => gtag("consent", "update", ${all("granted")}), 300)`),
    ),
    "/gcm-regions": withNative(
      script(`${gtag} gtag("consent", "default", ${all("denied", `, region: ["DE", "FR"]`)});
        gtag("consent", "default", ${all("granted")})`),
    ),
    "/gcm-asking": withAjax(
      script(`${gtag} gtag("consent", "default", ${all("denied")})`),
      onClick("agree", `gtag("consent", "update", ${all("granted")})`),
    ),
    // A consent platform that sets other kinds of storage before the visitor has decided.
    "/gcm-others": withAjax(
      script(`${gtag} gtag("consent", "default", ${all("denied")});
        gtag("consent", "update", { security_storage: "granted", analytics_storage: "granted" })`),
      onClick("agree", `gtag("consent", "update", ${all("granted")})`),
    ),
    // The banner has a choice for storage alone.
    "/gcm-partial": withAjax(
      script(`${gtag} gtag("consent", "default", ${all("denied")})`),
      onClick("agree", `gtag("consent", "update", { ad_storage: "granted" })`) +
        onClick("refuse", `gtag("consent", "update", { ad_user_data: "granted" })`),
    ),
    "/own": withNative("", onClick("refuse", `cc.consent("denied")`)),
    "/own-granted": withNative(stub + script(`cc.consent("granted")`)),
    "/own-queued": withNative(stub + script(`cc.consent("denied")`)),
    "/own-at-once": pageWith("", native + tagLine.replace("<script", `<script onload="cc.consent('denied')"`)),
    "/ajax": withAjax("", onClick("agree", `cc.consent("granted")`) + onClick("refuse", `cc.consent("denied")`)),
  };
}

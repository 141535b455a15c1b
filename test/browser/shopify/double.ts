// A double of the parts of a Shopify shop that the pixel and the theme use: the consent API of the page, and the pixel manager,
// which runs a custom pixel in a sandboxed frame of another origin and gives it the page's storage by messages.

import { pageWith } from "../site.ts";

/** The consent of the visitor is in the page's storage: yes, no, or nothing before a decision. */
const consentApi = `<script>
  const isAllowed = () => (localStorage.consent ?? document.documentElement.dataset.unasked) === "yes";
  window.Shopify = {
    loadFeatures(features, done) {
      setTimeout(() => {
        window.Shopify.customerPrivacy = {
          currentVisitorConsent: () => ({ marketing: localStorage.consent ?? "" }),
          marketingAllowed: isAllowed,
          setTrackingConsent({ marketing }, set) {
            localStorage.consent = marketing ? "yes" : "no";
            const detail = { marketingAllowed: isAllowed(), analyticsAllowed: isAllowed() };
            document.dispatchEvent(new CustomEvent("visitorConsentCollected", { detail }));
            set();
          },
        };
        done();
      });
    },
  };
  Shopify.loadFeatures([], () => {});
</script>`;

const pixelManager = `<iframe sandbox="allow-scripts allow-forms" src="/wpm/sandbox"></iframe><script>
  const frame = document.querySelector("iframe");
  const send = (message) => frame.contentWindow.postMessage(message, "*");
  const privacy = () => ({
    analyticsProcessingAllowed: isAllowed(),
    marketingAllowed: isAllowed(),
    preferencesProcessingAllowed: isAllowed(),
    saleOfDataAllowed: isAllowed(),
  });
  addEventListener("message", ({ source, data: { id, method, args } }) => {
    if (source !== frame.contentWindow) return;
    if (method === "start") send({ init: { customerPrivacy: privacy() } });
    else if (method === "started") window.pixelStarted = true;
    else send({ id, value: localStorage[method](...args) ?? null });
  });
  document.addEventListener("visitorConsentCollected", () =>
    send({ name: "visitorConsentCollected", payload: { customerPrivacy: privacy() } }),
  );
  window.publish = (name, data) => send({ name, payload: { name, data } });
</script>`;

const frameOf = (pixel: string) => `<script>
  const subscribers = {};
  const waiting = new Map();
  const subscribe = (name, call) => void (subscribers[name] ??= []).push(call);
  const ask = (method) => (...args) =>
    new Promise((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      parent.postMessage({ id, method, args }, "*");
    });
  const storage = { getItem: ask("getItem"), setItem: ask("setItem"), removeItem: ask("removeItem") };
  const run = new Function("analytics", "browser", "init", "api", ${JSON.stringify(pixel)});
  addEventListener("message", ({ data: { id, value, init, name, payload } }) => {
    const analytics = { subscribe };
    const browser = { localStorage: storage };
    if (init) {
      run(analytics, browser, init, { analytics, browser, init, customerPrivacy: { subscribe } });
      parent.postMessage({ method: "started" }, "*");
    } else if (id) waiting.get(id)(value);
    else for (const call of subscribers[name] ?? []) call(payload);
  });
  parent.postMessage({ method: "start" }, "*");
</script>`;

/** The pages of a shop; where no decision is asked for, marketing is allowed. */
export const shopPages = (theme: string, pixel: string) => ({
  "/": pageWith(consentApi + theme, "<h1>Shop</h1>"),
  "/unasked": pageWith(consentApi + theme, "").replace("<html", '<html data-unasked="yes"'),
  // The theme is not part of the checkout.
  "/checkout": pageWith(consentApi, pixelManager),
  "/wpm/sandbox": pageWith("", frameOf(pixel)),
});

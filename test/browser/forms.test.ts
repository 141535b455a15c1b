// Emails that visitors submit, in every way that pages offer, and fields that the tag ignores.

import { createHash } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeAll, expect, test } from "vitest";
import { emailForms } from "../../src/identity/email.ts";
import { hashEmail } from "../support/person.ts";
import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";

inChromium("forms", () => {
  let stage: Stage;
  let visitor: BrowserContext;
  let page: Page;
  const faults: string[] = [];

  beforeAll(async () => {
    stage = await setUpStage();
    visitor = await newVisitor();
    page = await visitor.newPage();
    page.on("pageerror", (error) => faults.push(String(error)));
  });

  afterEach(() => expect(faults.splice(0)).toEqual([]));

  /** Opens a page with this body, and waits for the tag. */
  async function show(body: string, headers: Record<string, string> = {}): Promise<void> {
    await visitor.clearCookies();
    stage.site.clearRecorded();
    stage.site.pages["/form"] = { html: pageWith(stage.site.tagLine, body), headers };
    await page.goto(`${stage.site.origin}/form?gclid=Form`);
    await stage.site.waitForReports("visit", 1);
  }

  /** The first email hash of each report so far. */
  const identified = () => stage.site.reports("identify").map((one) => (one.fields["emails"] as [string])[0]);
  const sorted = (texts: string[]) => texts.toSorted();

  /** Waits until everything was sent: a final report of the page has arrived. */
  async function settled(): Promise<void> {
    await page.evaluate(() => (window as unknown as Api).cc.identifyEmail("last@word.example"));
    await expect.poll(identified).toContain(hashEmail("last@word.example"));
  }
  type Api = { cc: { identifyEmail(email: string): Promise<boolean> } };

  async function expectOnly(...emails: string[]): Promise<void> {
    await settled();
    expect(sorted(identified())).toEqual(sorted([...emails, "last@word.example"].map(hashEmail)));
  }

  const preventSubmit = `<script>addEventListener("submit", (event) => event.preventDefault())</script>`;

  test("a form's email is sent as the hashes of all normalisations that platforms need", async () => {
    await show(`<form>${preventSubmit}<input type="email" name="e"><button>Send</button></form>`);
    await page.fill("[name=e]", "  Ada.Lovelace+Shop@GMail.com ");
    await page.click("button");
    const [report] = await stage.site.waitForReports("identify", 1);
    const forms = emailForms("Ada.Lovelace+Shop@GMail.com");
    const sha256 = (text?: string) => createHash("sha256").update(String(text)).digest("hex");
    expect(report?.fields["emails"]).toEqual([forms.canonical, forms.google, forms.microsoft, forms.reddit].map(sha256));
  });

  test("of twenty forms on one page, each sends its own email, once", async () => {
    const forms = Array.from(
      { length: 20 },
      (_, i) => `<form id="f${i}"><input name="email" value="form${i}@customers.example"><button>Go</button></form>`,
    );
    await show(preventSubmit + forms.join(""));
    await page.click("#f13 button");
    await stage.site.waitForReports("identify", 1);
    expect(identified()).toEqual([hashEmail("form13@customers.example")]);
    for (let i = 0; i < 20; i += 1) await page.click(`#f${i} button`);
    await page.click("#f7 button");
    await expectOnly(...forms.map((_, i) => `form${i}@customers.example`));
  });

  test("the email of a form that a framework replaced, or added later, is sent", async () => {
    await show(
      `${preventSubmit}<div id="root"><form><input type="email" value="old@customers.example"><button>A</button></form></div>`,
    );
    await page.evaluate(() => {
      const root = document.querySelector("#root") as HTMLElement;
      root.innerHTML = `<form><input type="email"><button>B</button></form>`;
      const later = document.createElement("form");
      later.innerHTML = `<input type="email" id="later"><button id="send-later">C</button>`;
      document.body.append(later);
    });
    await page.fill("#root input", "new@customers.example");
    // The framework renders the form again between the last key and the click, and sets its value without an event.
    await page.evaluate(() => {
      const root = document.querySelector("#root") as HTMLElement;
      root.replaceChildren(root.firstElementChild?.cloneNode(true) as Node);
    });
    await page.evaluate(() => {
      (document.querySelector("#root input") as HTMLInputElement).value = "rendered@customers.example";
    });
    await page.click("#root button");
    await page.fill("#later", "later@customers.example");
    await page.click("#send-later");
    await expectOnly("rendered@customers.example", "later@customers.example");
  });

  test("the email of an AJAX form is sent, although its handler stops the event", async () => {
    await show(`<form id="f"><input type="email" name="e"><button>Send</button></form><script>
      f.addEventListener("submit", (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);
    </script>`);
    await page.fill("[name=e]", "ajax@customers.example");
    await page.press("[name=e]", "Enter");
    await expectOnly("ajax@customers.example");
  });

  test("a value that autofill entered without an event is read", async () => {
    await show(`<form>${preventSubmit}<input type="text" autocomplete="email" id="x"><button>Send</button></form>`);
    await page.evaluate(() => {
      (document.querySelector("#x") as HTMLInputElement).value = "autofill@customers.example";
    });
    await page.click("button");
    await expectOnly("autofill@customers.example");
  });

  test("a button without a form and the Enter key submit the email field next to them", async () => {
    await show(`<div><div><label>Mail <input name="e-mail" id="a"></label></div><p><button id="go">Go</button></p></div>`);
    await page.fill("#a", "button@customers.example");
    await page.click("#go");
    await page.fill("#a", "enter@customers.example");
    await page.press("#a", "Enter");
    await expectOnly("button@customers.example", "enter@customers.example");
  });

  test("the email of a form that a script submits from its button is sent", async () => {
    await show(`<form id="f" action="/thanks" method="post"><input type="email" name="e">
      <button type="button" onclick="f.submit()">Send</button></form>`);
    await page.fill("[name=e]", "scripted@customers.example");
    await page.click("button");
    await page.waitForURL("**/thanks");
    await stage.site.waitForReports("identify", 1);
    expect(identified()).toEqual([hashEmail("scripted@customers.example")]);
  });

  test("the email of a form inside open shadow roots is sent", async () => {
    await show(`<shop-form></shop-form><script>
      customElements.define("inner-form", class extends HTMLElement { connectedCallback() {
        this.attachShadow({ mode: "open" }).innerHTML =
          '<form><input type="email" id="e"><button id="b">Send</button></form>';
        this.shadowRoot.querySelector("form").onsubmit = () => false;
      } });
      customElements.define("shop-form", class extends HTMLElement { connectedCallback() {
        this.attachShadow({ mode: "open" }).innerHTML = "<inner-form></inner-form>";
      } });
    </script>`);
    await page.fill("#e", "shadow@customers.example");
    await page.click("#b");
    await expectOnly("shadow@customers.example");
  });

  test("forms marked data-cc-ignore are not read, also around a shadow root", async () => {
    await show(`${preventSubmit}
      <form id="one"><input type="email" data-cc-ignore value="one@customers.example"><button>1</button></form>
      <form id="two" data-cc-ignore><input type="email" value="two@customers.example"><button>2</button></form>
      <section data-cc-ignore><input type="email" value="three@customers.example"><button id="three">3</button></section>
      <div data-cc-ignore><shop-form></shop-form></div>
      <script>customElements.define("shop-form", class extends HTMLElement { connectedCallback() {
        this.attachShadow({ mode: "open" }).innerHTML =
          '<form onsubmit="return false"><input type="email" value="four@customers.example"><button id="four">4</button></form>';
      } });</script>`);
    for (const button of ["#one button", "#two button", "#three", "#four"]) await page.click(button);
    await expectOnly();
  });

  test("passwords, hidden fields and everything but the email are never read", async () => {
    await show(`${preventSubmit}<form>
      <input type="hidden" name="email" value="hidden@customers.example">
      <input type="password" name="email_again" value="password@customers.example">
      <input type="text" name="city" value="city@customers.example">
      <textarea name="email_text">text@customers.example</textarea>
      <select name="email_choice"><option>choice@customers.example</select>
      <input type="email" name="email" id="real"><button>Send</button></form>`);
    await page.fill("#real", "real@customers.example");
    await page.evaluate(() => {
      const read: string[] = [];
      Object.assign(window, { read });
      for (const kind of [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement]) {
        const value = Object.getOwnPropertyDescriptor(kind.prototype, "value") as PropertyDescriptor;
        Object.defineProperty(kind.prototype, "value", {
          ...value,
          get(this: HTMLInputElement) {
            read.push(this.type);
            return value.get?.call(this);
          },
        });
      }
    });
    await page.click("button");
    await expectOnly("real@customers.example");
    const read = await page.evaluate(() => (window as unknown as { read: string[] }).read);
    expect(new Set(read)).toEqual(new Set(["email"]));
  });

  test("a value that is not an email address is not sent, although the form does not check it", async () => {
    await show(`<form novalidate>${preventSubmit}<input type="email" name="e"><button>Send</button></form>`);
    for (const junk of ["ada", "ada@", "@x.example", "a b@x.example", "ada@localhost", "ada@x.example, b@x.example"]) {
      await page.fill("[name=e]", junk);
      await page.click("button");
    }
    await expectOnly();
  });

  test("a page that allows only its own host (default-src 'self') works, and reports no violation", async () => {
    const messages: string[] = [];
    page.on("console", (message) => messages.push(message.text()));
    await show(`<form action="/thanks" method="post"><input type="email" name="e"><button>Send</button></form>`, {
      "content-security-policy": "default-src 'self'; form-action 'self'",
    });
    await page.fill("[name=e]", "csp@customers.example");
    await page.click("button");
    await page.waitForURL("**/thanks");
    await stage.site.waitForReports("identify", 1);
    expect((await stage.convert("csp@customers.example")).clickIds).toEqual({ gclid: "Form" });
    page.removeAllListeners("console");
    expect(messages).toEqual([]);
  });

  test.each(["no-referrer", "same-origin", "origin"])("a page with Referrer-Policy: %s works", async (policy) => {
    await show(`<form>${preventSubmit}<input type="email" name="e"><button>Send</button></form>`, {
      "referrer-policy": policy,
    });
    const email = `referrer-${policy}@customers.example`;
    await page.fill("[name=e]", email);
    await page.click("button");
    await stage.site.waitForReports("identify", 1);
    expect((await stage.convert(email)).clickIds).toEqual({ gclid: "Form" });
  });
});

inChromium("a relay that is far away", () => {
  test("the emails of fifty forms that leave the page when they are sent all arrive", async () => {
    const { site } = await setUpStage({ relayHost: "cc.shop.example.test" });
    const page = await (await newVisitor()).newPage();
    site.pages["/form"] = pageWith(
      site.tagLine,
      `<form action="/thanks" method="post"><input type="email" name="e"><button>Send</button></form>`,
    );
    // The page has been left long before the connection to the relay is open.
    site.connectMs = 250;
    for (let i = 0; i < 50; i += 1) {
      await page.goto(`${site.origin}/form`);
      await page.waitForFunction(() => (window as { cc?: { ready?: true } }).cc?.ready);
      await page.evaluate((email) => {
        (document.querySelector("[name=e]") as HTMLInputElement).value = email;
        (document.querySelector("button") as HTMLButtonElement).click();
      }, `leaves${i}@customers.example`);
      await page.waitForURL("**/thanks", { waitUntil: "commit" });
    }
    const reports = await site.waitForReports("identify", 50);
    const arrived = reports.map((one) => (one.fields["emails"] as [string])[0]);
    const emails = Array.from({ length: 50 }, (_, i) => `leaves${i}@customers.example`);
    expect(new Set(arrived)).toEqual(new Set(emails.map(hashEmail)));
    expect(arrived).toHaveLength(50);
  });
});

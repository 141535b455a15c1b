// The plain email never leaves the page: everything that a browser sends is recorded, and searched in every encoding.

import type { Request } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/relay.ts";
import { inChromium, newVisitor } from "./chromium.ts";
import { pageWith, type Recorded } from "./site.ts";
import { setUpStage, type Stage } from "./stage.ts";

const email = "Ada.Lovelace+Shop@Customers.example";

/** Encodes the text in Base64 at each of three offsets, without the characters that depend on the neighbouring bytes. */
function base64Cores(text: string): string[] {
  return [0, 1, 2].map((offset) =>
    Buffer.from("x".repeat(offset) + text)
      .toString("base64")
      .replace(/=+$/, "")
      .slice(Math.ceil((offset * 4) / 3), -2),
  );
}

/** Returns the address, its lower case and its local part in every encoding in which a request could carry them. */
function encodings(address: string): string[] {
  return [address, address.toLowerCase(), address.trim().split("@")[0] as string].flatMap((text) => [
    text,
    encodeURIComponent(text),
    encodeURIComponent(encodeURIComponent(text)),
    ...base64Cores(text),
    ...base64Cores(text).map((core) => core.replaceAll("+", "-").replaceAll("/", "_")),
    Buffer.from(text).toString("hex"),
    Buffer.from(text, "utf16le").toString("latin1"),
    text.replaceAll("@", "\\u0040"),
    text.split("").toReversed().join(""),
  ]);
}

const finds = (haystack: string) => encodings(email).filter((needle) => haystack.toLowerCase().includes(needle.toLowerCase()));

const textOf = ({ host, method, path, headers, body }: Recorded) =>
  `${method} ${host}${path}\n${JSON.stringify(headers)}\n${body}`;

inChromium("privacy", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setUpStage();
    stage.site.pages["/forms"] = pageWith(
      stage.site.tagLine,
      `<form id="native" action="/thanks" method="post"><input type="email" name="email"><button>Send</button></form>
       <form id="ajax" onsubmit="return false"><input type="text" name="e-mail"><button>Send</button></form>
       <div><input name="email" id="loose"><button id="go">Go</button></div>`,
    );
  });

  test("the search for the email address finds it in every encoding", () => {
    const wrapped = [
      `{"e":"${email}"}`,
      `a=1&e=${encodeURIComponent(email)}`,
      Buffer.from(`x${email}y`).toString("base64"),
      Buffer.from(`{"email":"${email}"}`).toString("base64url"),
      Buffer.from(email.toLowerCase()).toString("hex"),
    ];
    for (const text of wrapped) expect(finds(text), text).not.toEqual([]);
    expect(finds(`{"e":"bob@customers.example"}`)).toEqual([]);
  });

  test("no request but the form's own carries the plain email address", async () => {
    const visitor = await newVisitor();
    const page = await visitor.newPage();
    const requests: Request[] = [];
    visitor.on("request", (request) => requests.push(request));
    await page.goto(`${stage.site.origin}/forms?gclid=Private&utm_source=mail`);
    await stage.site.waitForReports("visit", 1);
    await page.fill("#ajax input", email);
    await page.click("#ajax button");
    await page.fill("#loose", ` ${email.toUpperCase()} `);
    await page.click("#go");
    await page.evaluate((address) => {
      type Api = { cc: { identifyEmail(text: string): Promise<boolean>; consent(word: string): void } };
      const { cc } = window as unknown as Api;
      cc.consent("granted");
      return cc.identifyEmail(address);
    }, email);
    await page.evaluate(() => history.pushState({}, "", "/forms/2?fbclid=More"));
    await page.fill("#native input", email);
    await page.click("#native button");
    await page.waitForURL("**/thanks");
    // The email is sent with the first consent decision, and again with the second.
    await stage.site.waitForReports("identify", 2);

    // The requests that the server received.
    const carriers = stage.site.recorded.filter((one) => finds(textOf(one)).length > 0);
    expect(carriers.map((one) => `${one.method} ${one.path}`)).toEqual(["POST /thanks"]);
    expect(stage.site.recorded.filter((one) => one.isForRelay).length).toBeGreaterThanOrEqual(5);

    // The requests that the browser tried to send, also to hosts that do not exist.
    const hosts = new Set(requests.map((request) => new URL(request.url()).hostname));
    expect([...hosts]).toEqual(["shop.example.test"]);
    const wanted = requests.filter((request) => finds(`${request.url()} ${request.postData() ?? ""}`).length);
    expect(wanted.map((request) => new URL(request.url()).pathname)).toEqual(["/thanks"]);
    await visitor.close();
  });

  test("the relay neither stores nor logs the plain email address", async () => {
    await stage.convert(email, { firstName: "Ada", phone: "+4930123456" });
    await eventually("the line in the log", () => stage.relay.output().includes('"msg":"inbound"'));
    expect(finds(JSON.stringify(await stage.stored()))).toEqual([]);
    expect(finds(stage.relay.output())).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { startMailServer } from "../../test/support/servers/mailServer.ts";
import { createMailer, stopWhenDown } from "./mail.ts";

describe("mail", () => {
  test("a mail reaches all recipients, in plain text, marked as auto-generated", async () => {
    const server = await startMailServer();
    const mailer = createMailer({ url: server.url, from: "Cleancast <cc@example.com>" });
    const text = "Größe: 50 %\n.\n  cleancast alert list\n";
    expect(await mailer(["a@example.com", "b@example.com"], "[Cleancast] shop: über", text)).toEqual({
      ok: true,
    });
    expect(server.got).toHaveLength(1);
    expect(server.got[0]).toMatchObject({ from: "cc@example.com", to: ["a@example.com", "b@example.com"] });
    expect(server.got[0]?.raw).toMatch(/^Auto-Submitted: auto-generated/m);
    expect(server.got[0]?.raw).toMatch(/^Content-Type: text\/plain/m);
    expect(server.got[0]?.text).toContain("Größe: 50 %");
  });

  test("the error of a mail that the server refuses does not contain the password", async () => {
    const server = await startMailServer();
    server.rejectsRecipients = true;
    const mailer = createMailer({ url: server.url.replace("//", "//user:s3cret@"), from: "cc@example.com" });
    const sent = await mailer(["a@example.com"], "s", "t");
    expect(sent.ok).toBe(false);
    expect(JSON.stringify(sent)).not.toContain("s3cret");
  });

  test("after the server was down, no further mail is tried; after it refused one mail, the next is sent", async () => {
    const server = await startMailServer();
    server.rejectsRecipients = true;
    const picky = stopWhenDown(createMailer({ url: server.url, from: "cc@example.com" }));
    expect(await picky(["a@example.com"], "s", "t")).toMatchObject({ ok: false, isDown: false });
    server.rejectsRecipients = false;
    expect(await picky(["a@example.com"], "s", "t")).toEqual({ ok: true });

    const { url } = server;
    await server.close();
    let calls = 0;
    const mailer = createMailer({ url, from: "cc@example.com" });
    const guarded = stopWhenDown((...mail) => {
      calls += 1;
      return mailer(...mail);
    });
    for (let n = 0; n < 3; n++) expect(await guarded(["a@example.com"], "s", "t")).toMatchObject({ ok: false, isDown: true });
    expect(calls).toBe(1);
  });
});

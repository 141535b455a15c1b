// Members of a real relay: the set-up link on its console, and the operator's commands.

import { expect, test } from "vitest";
import { newInstallation } from "../support/relay.ts";

const password = "correct horse battery";

test("the console's link creates the owner, and commands invite, reset and remove members", async () => {
  const home = await newInstallation("sqlite");
  const relay = await home.start();
  const link = /create the owner: (\S+)/.exec(relay.output())?.[1] ?? "";
  expect(link).toMatch(/\/dashboard\/setup#\w{32}$/);

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${relay.url}/api/v1${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  const owner = { token: link.split("#")[1], email: "ada@example.com", name: "Ada", password };
  // A page of another origin cannot use the link.
  expect((await post("/setup", owner, { origin: "https://evil.example" })).status).toBe(403);
  const created = await post("/setup", owner);
  expect(created.status).toBe(200);
  const cookie = created.headers
    .getSetCookie()
    .map((line) => line.split(";", 1)[0])
    .join("; ");
  const session = async () => (await fetch(`${relay.url}/api/v1/session`, { headers: { cookie } })).json();
  expect(await session()).toMatchObject({ session: { user: { email: "ada@example.com" } } });

  expect(await home.run("member", "list")).toMatchObject({
    members: [{ email: "ada@example.com", grants: [{ site: null, role: "owner" }] }],
    invitations: [],
  });
  const invited = await home.run("member", "add", "Bob@example.com", "--role", "viewer", "--site", "localhost");
  expect(invited).toMatchObject({
    link: expect.stringMatching(/invitation#\w{32}$/),
  });
  const accepted = await post("/invitations/accept", {
    token: invited.link.split("#")[1],
    name: "Bob",
    password,
  });
  expect(accepted.status).toBe(200);
  expect(await home.fails("member", "remove", "ada@example.com")).toMatchObject({
    error: expect.stringContaining("This is the last owner"),
  });
  expect(await home.run("member", "remove", "bob@example.com")).toEqual({});
  expect(await home.fails("member", "reset", "bob@example.com")).toMatchObject({ field: "email" });

  expect((await home.run("member", "sessions", "ada@example.com")).sessions).toHaveLength(1);
  const reset = await home.run("member", "reset", "ada@example.com");
  const fresh = { token: reset.link.split("#")[1], password: "a password that is new" };
  expect((await post("/password-resets/finish", fresh)).status).toBe(200);
  expect(await session()).toEqual({ session: null });
  expect((await post("/session", { email: "ada@example.com", password: fresh.password })).status).toBe(200);
  expect(await home.run("member", "sessions", "ada@example.com", "--end")).toMatchObject({ ended: 1 });

  expect(await home.print("member", "list")).toMatch(/ada@example\.com +Ada +owner \(all sites\) +off/);

  await relay.stop();
  for (const secret of [owner.token, fresh.token, password]) expect(relay.output().replace(link, "")).not.toContain(secret);
  const again = await home.start();
  expect(again.output()).not.toContain("create the owner");
});

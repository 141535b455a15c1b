// Rejected requests of the inbound endpoint: a few are kept for diagnosis, and the wrong key is not logged.

import { beforeAll, describe, expect, test } from "vitest";
import { ask, becomeOwner, type Person } from "../support/apiClient.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";

type Refused = { status: number; error: string; host: string; key: { name: string } | null; address: string };

describe.each(endToEndEngines)("rejected requests on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let quiet: TestSite;
  let owner: Person;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await home.addSite("shop.example");
    quiet = await home.addSite("quiet.example");
    relay = await home.start();
    owner = await becomeOwner(relay);
  });

  // Reads `relay` at each call, because a restart changes its port.
  const kept = async (of: TestSite): Promise<Refused[]> => {
    const path = `GET /sites/${of.id}/rejected-requests?limit=200`;
    return (await ask(relay, path, undefined, { Cookie: owner.cookie })).json.items;
  };

  test("rejected requests are listed with reason, host and key, newest first; those of unknown senders belong to no site", async () => {
    const wrong = `cc_live_${"x".repeat(40)}`;
    await relay.post(site.key, { event: "purchase" });
    await relay.post(site.key, "{", { Host: site.host });
    await relay.post(wrong, { event: "purchase" }, { Host: site.host });
    await relay.post(quiet.key, { event: "purchase" }, { Host: site.host });
    await call(relay.url, { method: "GET", headers: { Host: site.host } });
    await relay.post(wrong, { event: "purchase" });
    await eventually("all rejected requests are written", async () => (await kept(site)).length >= 5);
    const listed = (await kept(site)).map(({ status, error, host, key, address }) => [
      status,
      host,
      key?.name ?? null,
      address,
      error,
    ]);
    expect(listed).toEqual([
      [405, site.host, null, "127.0.0.0", "Send a POST request."],
      [401, site.host, null, "127.0.0.0", "Invalid API key"],
      [401, site.host, null, "127.0.0.0", "Invalid API key"],
      [400, site.host, "test sender", "127.0.0.0", "The body is not valid JSON."],
      [400, "127.0.0.1", "test sender", "127.0.0.0", expect.stringContaining("email")],
    ]);
    expect(await kept(quiet)).toEqual([]);
    const table = await owner.ask(`GET /sites/${site.id}/rejected-requests.csv`);
    const [titles, newest, ...older] = table.answer.text.trim().split("\n");
    expect(titles).toBe("time (UTC),status,why,key,host,from,id");
    expect(newest).toContain(`,405,Send a POST request.,,${site.host},127.0.0.0,`);
    expect(older).toHaveLength(4);
    expect(relay.output()).not.toContain(wrong);
  });

  test("only a few of a flood of rejected requests are kept", async () => {
    await Promise.all(Array.from({ length: 100 }, () => relay.post(quiet.key, "{")));
    await eventually("some rejected requests are written", async () => (await kept(quiet)).length >= 20);
    // The flood spans two minutes at most, and 20 are kept of each.
    expect((await kept(quiet)).length).toBeLessThanOrEqual(40);
  });

  test("a graceful stop writes the rejected requests that are still in memory", async () => {
    const before = (await kept(site)).length;
    await relay.post(site.key, "[]", { Host: site.host });
    expect(await relay.stop()).toBe(0);
    relay = await home.start();
    expect((await kept(site)).length).toBe(before + 1);
  });
});

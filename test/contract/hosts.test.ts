// The hosts of sites: added by people with different roles, verified, paused and removed, on a real relay behind a real HTTPS
// proxy, with a real DNS server.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { becomeOwner, invite, type Person } from "../support/apiClient.ts";
import { newAuthority } from "../support/servers/certificates.ts";
import { freshFolder } from "../support/databases.ts";
import { checkedAnswer, fault } from "../support/contractCheck.ts";
import { startDns, type Records } from "../support/servers/dnsServer.ts";
import { call, endToEndEngines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { startTlsProxy, type TlsProxy } from "../support/servers/tlsProxy.ts";
import { freshEvent } from "./answers.ts";

const here = { address: "127.0.0.1" };
const records: Records = {
  "cc.relay.test": here,
  "shop.test": { alias: "cc.relay.test" },
  "www.shop.test": here,
  "elsewhere.test": { address: "127.0.0.9" },
};

describe.each(endToEndEngines)("hosts on %s", (engine) => {
  let dns: Awaited<ReturnType<typeof startDns>>;
  let proxy: TlsProxy;
  let home: Installation;
  let relay: Relay;
  let owner: Person;
  let admin: Person;
  let viewer: Person;
  let site: string;
  let other: string;
  let key: string;

  const tag = async (host: string) =>
    (await call(relay.url, { method: "GET", path: "/__cc/tag.js", headers: { Host: host } })).status;
  const mayHaveCertificate = async (domain: string, headers: Record<string, string> = {}) => {
    const path = `/__cc/tls-check?domain=${encodeURIComponent(domain)}`;
    const { status, text } = await call(relay.url, { method: "GET", path, headers });
    expect(text).toBe(status === 200 ? "ok\n" : "Not found.\n");
    return status === 200;
  };
  const listed = async (host: string) =>
    checkedAnswer("GET /sites/:site/hosts", await viewer.ask(`GET /sites/${site}/hosts`)).items.find(
      (one: { host: string }) => one.host === host,
    );

  beforeAll(async () => {
    const authority = newAuthority();
    const trusted = join(freshFolder(), "authority.pem");
    writeFileSync(trusted, authority.cert);
    dns = await startDns(records);
    proxy = await startTlsProxy(authority.issue(Object.keys(records)), () => relay.url);
    home = await newInstallation(engine, {
      CLEANCAST_URL: `https://cc.relay.test:${proxy.port}`,
      CLEANCAST_DNS: dns.address,
      CLEANCAST_ALLOW_PRIVATE: "127.0.0.0/8",
      NODE_EXTRA_CA_CERTS: trusted,
    });
    relay = await home.start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("POST /sites", { host: "first.test" })).json.id;
    other = (await owner.ask("POST /sites", { host: "other.test" })).json.id;
    admin = await invite(relay, owner, "admin@example.com", "admin", site);
    viewer = await invite(relay, owner, "viewer@example.com", "viewer", site);
    ({ key } = (await admin.ask(`POST /sites/${site}/keys`, { name: "crm" })).json);
  });
  afterAll(() => {
    proxy.close();
    dns.close();
  });

  test("a host that a member of one site adds is served only after verification", async () => {
    const added = await admin.ask(`POST /sites/${site}/hosts`, { host: "Shop.test" });
    expect(checkedAnswer("POST /sites/:site/hosts", added).hosts).toEqual(["first.test", "shop.test"]);
    expect(await listed("shop.test")).toMatchObject({ state: "waiting", problem: null, checkedAt: null });
    expect([await tag("shop.test"), await mayHaveCertificate("shop.test")]).toEqual([404, false]);

    const verify = () => admin.ask(`POST /sites/${site}/hosts/shop.test/verify`);
    let connections = 0;
    const count = () => void (connections += 1);
    proxy.server.on("connection", count);
    const [asked, ...same] = await Promise.all(Array.from({ length: 8 }, verify));
    proxy.server.off("connection", count);
    const verified = checkedAnswer("POST /sites/:site/hosts/:host/verify", asked ?? expect.unreachable());
    // Simultaneous checks of a host share one call.
    expect([connections, new Set(same.map(({ json }) => json.checkedAt))]).toEqual([1, new Set([verified.checkedAt])]);
    expect(verified).toMatchObject({ state: "verified", verifiedBy: "a request", problem: null });
    expect([await tag("shop.test"), await mayHaveCertificate("shop.test")]).toEqual([200, true]);
    // A check right after it gets the same answer without another call.
    expect((await verify()).json.checkedAt).toBe(verified.checkedAt);
    const { items } = (await admin.ask(`GET /sites/${site}/audit`)).json;
    expect(items[0]).toMatchObject({
      actor: "admin@example.com",
      action: "host verified",
      detail: { host: "shop.test", by: "a request" },
    });
  });

  test("a host that an owner or the command line adds is served without verification", async () => {
    await owner.ask(`POST /sites/${site}/hosts`, { host: "elsewhere.test" });
    expect([await tag("elsewhere.test"), (await listed("elsewhere.test")).state]).toEqual([200, "unverified"]);
    const added = await home.run("host", "add", site, "www.shop.test");
    expect(added).toMatchObject({ id: site, hosts: expect.arrayContaining(["www.shop.test"]) });
    await eventually("the relay serves the new host", async () => (await tag("www.shop.test")) === 200);
  });

  test("a failed verification names the problem and its remedy, also on the command line", async () => {
    await admin.ask(`POST /sites/${site}/hosts`, { host: "nowhere.test" });
    const { json } = await admin.ask(`POST /sites/${site}/hosts/nowhere.test/verify`);
    expect(json).toMatchObject({
      state: "waiting",
      verifiedAt: null,
      problem: {
        what: "nowhere.test is not in the DNS.",
        whatToDo: expect.stringContaining("CNAME of nowhere.test lead to cc.relay.test"),
      },
    });
    expect(await home.print("host", "verify", "elsewhere.test")).toMatch(
      /^elsewhere\.test leads to 127\.0\.0\.9 and no server answers there on HTTPS\.\nLet a CNAME/,
    );
    expect(await home.print("host", "verify", "www.shop.test")).toBe(
      "www.shop.test points to this relay, verified by a request.\n",
    );
    const { items: hosts } = await home.run("host", "list", site);
    expect(hosts.map((one: { host: string; state: string }) => [one.host, one.state])).toEqual([
      ["first.test", "unverified"],
      ["shop.test", "verified"],
      ["elsewhere.test", "unverified"],
      ["www.shop.test", "verified"],
      ["nowhere.test", "waiting"],
    ]);
  });

  test("a host of another site cannot be taken, except an unverified one by an owner of the installation", async () => {
    const rival = await invite(relay, owner, "rival@example.com", "admin", other);
    const take = (person: Person, host: string) => person.ask(`POST /sites/${other}/hosts`, { host });
    for (const host of ["shop.test", "first.test", "nowhere.test"])
      expect(fault(await take(rival, host))).toEqual([400, "invalid", "host"]);
    expect(fault(await take(owner, "shop.test"))).toEqual([400, "invalid", "host"]);
    // Neither can the relay's own name in any spelling, nor names of the operator's own network.
    const forms = ["cc.relay.test", "CC.Relay.Test.", "\uff43c.relay.test", "cc.re\u00adlay.test", "cc\u3002relay.test"];
    for (const host of [...forms, "cleancast", "shop.localhost"])
      expect([host, ...fault(await take(rival, host))]).toEqual([host, 400, "invalid", "host"]);
    expect((await take(owner, "nowhere.test")).status).toBe(200);
    expect(await listed("nowhere.test")).toBeUndefined();
    expect((await home.fails("host", "add", site, "nowhere.test")).error).toContain(other);
  });

  test("a paused host answers like an unknown host, until it is resumed", async () => {
    const statusOf = async (path: string, method = "GET") =>
      (await call(relay.url, { method, path, headers: { Host: "shop.test" } })).status;
    await home.run("host", "pause", "shop.test");
    await eventually("the tag is gone", async () => (await tag("shop.test")) === 404);
    expect(await statusOf("/__cc/visit", "POST")).toBe(404);
    expect(await mayHaveCertificate("shop.test")).toBe(false);
    // Senders are identified by their key, so a paused host does not stop them.
    expect((await relay.post(key, freshEvent(), { Host: "shop.test" })).status).toBe(200);
    expect((await listed("shop.test")).state).toBe("paused");
    expect((await call(relay.url, { method: "GET", path: "/dashboard/", headers: { Host: "shop.test" } })).status).toBe(404);
    expect(await home.run("host", "resume", "shop.test")).toMatchObject({
      host: "shop.test",
      state: "verified",
    });
    await eventually("the tag is back", async () => (await tag("shop.test")) === 200);

    const pause = await admin.ask(`POST /sites/${site}/hosts/shop.test/pause`);
    expect(checkedAnswer("POST /sites/:site/hosts/:host/pause", pause).state).toBe("paused");
    expect(await tag("shop.test")).toBe(404);
    const resume = await admin.ask(`POST /sites/${site}/hosts/shop.test/resume`);
    expect(checkedAnswer("POST /sites/:site/hosts/:host/resume", resume).state).toBe("verified");
    expect(fault(await viewer.ask(`POST /sites/${site}/hosts/shop.test/pause`))).toEqual([403, "forbidden", undefined]);
  });

  test("a host can be removed, unless it is the last one of its site", async () => {
    const removed = await admin.ask(`DELETE /sites/${site}/hosts/www.shop.test`);
    expect(checkedAnswer("DELETE /sites/:site/hosts/:host", removed)).toEqual({});
    expect(await tag("www.shop.test")).toBe(404);
    expect(fault(await admin.ask(`DELETE /sites/${site}/hosts/www.shop.test`))).toEqual([404, "not_found", "host"]);
    await home.run("host", "remove", "nowhere.test");
    const { error } = await home.fails("host", "remove", "other.test");
    expect(error).toBe("other.test is the only host of its site: add another first, or pause it.");
    expect((await home.fails("host", "verify", "gone.test")).error).toContain("cleancast host list");
  });

  test("the relay's own name accepts events of all sites, also when it is a host of one site", async () => {
    const { key: others } = await home.run("key", "add", other, "crm");
    await home.run("host", "add", site, "cc.relay.test");
    await eventually("the relay serves its tag", async () => (await tag("cc.relay.test")) === 200);
    const at = { Host: "cc.relay.test" };
    for (const one of [key, others]) expect((await relay.post(one, freshEvent(), at)).status).toBe(200);
    expect((await relay.post(others, freshEvent(), { Host: "shop.test" })).status).toBe(401);
    const dashboard = await call(relay.url, { method: "GET", path: "/dashboard/", headers: at });
    expect(dashboard.status).toBe(200);
  });

  test("only a proxy on the same machine may ask which names get a certificate", async () => {
    expect(await mayHaveCertificate("cc.relay.test")).toBe(true);
    expect(await mayHaveCertificate("FIRST.test")).toBe(true);
    for (const domain of ["unknown.test", "x.shop.test", "localhost", "127.0.0.1", "", "a b", "x".repeat(300)])
      expect([domain, await mayHaveCertificate(domain)]).toEqual([domain, false]);
    // A host that is only claimed, or always means this machine, does not count as a customer's.
    await admin.ask(`POST /sites/${site}/hosts`, { host: "node1.internal" });
    for (const Host of ["localhost", "node1.internal"])
      expect([Host, await mayHaveCertificate("first.test", { Host })]).toEqual([Host, true]);
    // Requests from outside, through the proxy or under a customer's host, are refused.
    for (const headers of [
      { Via: "1.1 cache" },
      { "X-Real-IP": "203.0.113.7" },
      { "X-Forwarded-For": "203.0.113.7" },
      { "X-Forwarded-Proto": "https" },
      { Forwarded: "for=203.0.113.7" },
      { Host: "shop.test" },
    ])
      expect(await mayHaveCertificate("first.test", headers as Record<string, string>)).toBe(false);
    const both = await call(relay.url, {
      method: "GET",
      path: "/__cc/tls-check?domain=first.test&domain=other.test",
    });
    expect(both.status).toBe(404);
  });
});

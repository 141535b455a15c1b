// Alerts on the devices of people: a push service of this machine receives what the relay sends, and decrypts it as a browser does.

import { beforeAll, describe, expect, test } from "vitest";
import { ask, becomeOwner, invite, password, type Person } from "../support/apiClient.ts";
import { rows } from "../support/installation.ts";
import { newDevice, readVapid, type Device } from "../support/pushDevice.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";

describe.each(engines)("alerts on devices on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let service: Receiver;
  let owner: Person;
  let viewer: Person;
  let shop: string;
  /** The addresses that are gone. */
  const gone = new Set<string>();

  beforeAll(async () => {
    home = await newInstallation(engine, { CLEANCAST_ALERT_SECONDS: "1" });
    shop = (await home.addSite("shop.example")).id;
    const other = await home.addSite("other.example");
    relay = await home.start();
    if (engine === "postgres") await home.start();
    service = await startReceiver();
    service.behave = ({ path }, response) => response.writeHead(gone.has(path) ? 410 : 201).end();
    owner = await becomeOwner(relay);
    viewer = await invite(relay, owner, "viewer@example.com", "viewer", other.id);
  });

  const add = async (person: Person, path: string, name = "Chrome on Android") => {
    const device = await newDevice();
    const added = await person.ask("POST /me/devices", { name, endpoint: `${service.url}${path}`, keys: device.keys });
    expect(added.status, added.answer.text).toBe(200);
    expect(added.json.id).toBe(sha256Of(`${service.url}${path}`));
    return device;
  };
  const received = (device: Device, path: string) =>
    Promise.all(service.got.filter((one) => one.path === path).map(({ body }) => device.decrypt(body)));
  const devicesOf = async (person: Person) => (await person.ask("GET /me/devices")).json.items as { id: string; name: string }[];
  const lockOut = async (host: string) => {
    for (let n = 0; n < 12; n++) await relay.post(`cc_${"0".repeat(38)}`, {}, { Host: host });
  };

  test("a device is kept once it got a first message, with its address sealed", async () => {
    const device = await add(owner, "/phone");
    expect(await received(device, "/phone")).toEqual([
      { title: "Cleancast", body: "Alerts will be shown here.", page: "/dashboard/account", tag: "welcome" },
    ]);
    const headers = service.got[0]?.headers;
    expect(headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "86400", urgency: "normal", topic: "welcome" });
    const { claims, publicKey } = await readVapid(headers?.authorization);
    expect(claims).toMatchObject({ aud: service.url });
    expect((await owner.ask("GET /me/devices")).json.publicKey).toBe(publicKey);
    const stored = JSON.stringify(await rows(home, "SELECT * FROM push_devices"));
    expect(stored).toContain("Chrome on Android");
    expect(stored).not.toMatch(new RegExp(`/phone|${device.keys.auth}`));
    const [setting] = await rows(home, "SELECT value FROM settings WHERE name = 'push key'");
    expect(String(setting?.value)).toMatch(/^v1\./);
  });

  test("addresses that are private, refused or gone, and wrong keys, leave no device", async () => {
    const { keys } = await newDevice();
    const before = await devicesOf(owner);
    const refuse = async (body: Record<string, unknown>, message: RegExp) => {
      const asked = await owner.ask("POST /me/devices", { name: "Firefox", keys, ...body });
      expect([asked.status, asked.json.error.message]).toEqual([400, expect.stringMatching(message)]);
    };
    gone.add("/gone");
    await refuse({ endpoint: "https://10.0.0.1/push" }, /private address/);
    await refuse({ endpoint: "http://203.0.113.9/1" }, /https/);
    await refuse({ endpoint: `${service.url}/gone` }, /HTTP 410/);
    await refuse({ endpoint: `${service.url}/odd`, keys: { ...keys, p256dh: "A".repeat(87) } }, /keys of the browser/);
    expect(await devicesOf(owner)).toEqual(before);
    expect(service.got.some(({ path }) => path === "/odd")).toBe(false);
  });

  test("an alert reaches the devices of those who may read its site, once; a device that is gone is removed", async () => {
    const [phone, stranger] = [await add(owner, "/owner"), await add(viewer, "/viewer")];
    await add(owner, "/lost", "Edge on Windows");
    gone.add("/lost");
    await lockOut("shop.example");
    const alertsOf = async (device: Device, path: string) =>
      (await received(device, path)).filter(({ tag }) => tag !== "welcome");
    await eventually("the alert is shown", async () => (await alertsOf(phone, "/owner")).length > 0);
    expect(await alertsOf(phone, "/owner")).toMatchObject([
      {
        title: expect.stringContaining("shop.example"),
        body: expect.stringContaining("wrong keys"),
        page: `/dashboard/sites/${shop}/configuration/keys`,
      },
    ]);
    expect(service.got.find(({ path, headers }) => path === "/owner" && headers.topic !== "welcome")?.headers.urgency).toBe(
      "high",
    );
    await eventually("the device is removed", async () => !(await devicesOf(owner)).some(({ name }) => name.includes("Edge")));
    // An alert of the other site, which the viewer may read, comes after this one would have.
    await lockOut("other.example");
    await eventually("the other alert is shown", async () => (await alertsOf(stranger, "/viewer")).length > 0);
    expect((await alertsOf(stranger, "/viewer")).map(({ title }) => title)).toEqual([expect.stringContaining("other.example")]);
    expect((await alertsOf(phone, "/owner")).filter(({ title }) => String(title).includes("shop.example"))).toHaveLength(1);
    const { open } = await home.run("alert", "list", "shop.example");
    expect(open).toMatchObject([{ kind: "wrong keys", failed: [] }]);
  });

  test("a test alert goes to devices too, and one that fails is named", async () => {
    await add(owner, "/broken", "Safari on iPhone");
    service.behave = ({ path }, response) => response.writeHead(path === "/broken" ? 500 : 201).end();
    const { json } = await owner.ask(`POST /sites/${shop}/alerts/test`);
    expect(json.channels).toContainEqual({
      channel: "push",
      to: "Safari on iPhone (owner@example.com)",
      ok: false,
      error: "it answered with HTTP 500",
    });
    expect(json.channels).toContainEqual({ channel: "push", to: "Chrome on Android (owner@example.com)", ok: true, error: null });
    expect(JSON.stringify(json)).not.toContain("viewer@example.com");
    service.behave = (_got, response) => response.writeHead(201).end();
  });

  test("people remove their own devices; the oldest of more than ten gives way; a browser belongs to the last account", async () => {
    const [mine] = await devicesOf(owner);
    expect((await viewer.ask(`DELETE /me/devices/${mine?.id}`)).status).toBe(404);
    expect((await owner.ask(`DELETE /me/devices/${mine?.id}`)).status).toBe(200);
    expect((await devicesOf(owner)).some(({ id }) => id === mine?.id)).toBe(false);
    await add(owner, "/shared");
    await add(viewer, "/shared");
    expect((await devicesOf(owner)).map(({ id }) => id)).not.toContain(sha256Of(`${service.url}/shared`));
    for (let n = 0; n < 10; n++) await add(viewer, `/many/${n}`, `Phone ${n}`);
    expect((await devicesOf(viewer)).map(({ name }) => name).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, n) => `Phone ${n}`),
    );
  });

  test("when the sessions of an account end, or the account is removed, none of its devices shows alerts", async () => {
    const member = (await owner.ask("GET /members")).json.members.find((one: { email: string }) => one.email === viewer.email);
    const stored = () => rows(home, `SELECT id FROM push_devices WHERE user_id = '${member.id}'`);
    expect(await stored()).toHaveLength(10);
    const changed = await viewer.ask("POST /me/password", { current: password, password: "another long password" });
    expect(changed.status).toBe(200);
    expect(await stored()).toEqual([]);
    const [cookie = ""] = changed.answer.headers["set-cookie"] ?? [];
    const renewed: Person = {
      ...viewer,
      ask: (route, body) => ask(relay, route, body, { Cookie: cookie.split(";", 1)[0] ?? "" }),
    };
    await add(renewed, "/again");
    expect(await stored()).toHaveLength(1);
    await home.run("member", "remove", viewer.email);
    expect(await stored()).toEqual([]);
  });
});

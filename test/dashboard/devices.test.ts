// Alerts on a device: the dashboard subscribes the browser, the relay encrypts, and the service worker shows the notification.

import { afterAll, beforeAll, expect, test } from "vitest";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, signIn, type Person } from "../support/apiClient.ts";
import { newDevice, type Device } from "../support/pushDevice.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, newInstallation, type Relay } from "../support/relay.ts";
import { findViolations } from "./access.ts";
import { press, scenarioMs, sees, signOut, user, type User } from "./users.ts";

inChromium("alerts on a device", () => {
  let relay: Relay;
  let service: Receiver;
  let owner: Person;
  let site: string;
  let browser: User;
  let device: Device;

  /**
   * Chromium's push service is on the internet, and without a window it refuses every notification. In their place the page gets the
   * permission, and a subscription whose service is on this machine.
   */
  const subscribeHere = ({ context }: User, endpoint: string) =>
    context.addInitScript(
      ({ endpoint: address, keys }) => {
        const known = "subscribed";
        const subscription = {
          endpoint: address,
          toJSON: () => ({ endpoint: address, keys }),
          unsubscribe: async () => localStorage.removeItem(known),
        };
        Object.defineProperty(Notification, "permission", { get: () => "granted" });
        Notification.requestPermission = async () => "granted";
        PushManager.prototype.subscribe = async (options) => {
          // The real one throws for a key that is not well formed, and for a subscription that may stay silent.
          if (!options?.userVisibleOnly || (options.applicationServerKey as string).length !== 87) throw new Error("refused");
          localStorage.setItem(known, "yes");
          return subscription as never;
        };
        PushManager.prototype.getSubscription = async () => (localStorage.getItem(known) ? (subscription as never) : null);
      },
      { endpoint, keys: device.keys },
    );

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    relay = await home.start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    service = await startReceiver();
    device = await newDevice();
    browser = await user(relay, owner);
  });
  afterAll(() => {
    expect(browser.errors.scriptErrors).toEqual([]);
  });

  test(
    "a press turns alerts on, and what the relay sends to the push service is shown as a notification",
    async () => {
      const { page, context, open } = browser;
      await subscribeHere(browser, `${service.url}/device`);
      const devtools = await context.newCDPSession(page);
      let registrationId = "";
      devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
        registrationId = registrations.at(-1)?.registrationId ?? registrationId;
      });
      await devtools.send("ServiceWorker.enable");
      const started = context.waitForEvent("serviceworker");
      await open("/account");
      await press(page, "Turn on for this device");
      await sees(page, "On for this device.");
      expect((await owner.ask("GET /me/devices")).json.items).toMatchObject([{ name: "Chrome on Linux" }]);
      expect(await findViolations(page)).toEqual([]);

      await open(`/sites/${site}/settings/alerts`);
      await press(page, "Send test alert");
      await sees(page, "push to Chrome on Linux (owner@example.com)");
      await sees(page, "On for this device.");
      const messages = await Promise.all(service.got.map(({ body }) => device.decrypt(body)));
      expect(messages).toHaveLength(2);
      const worker = await started;
      await worker.evaluate(() => {
        const shown: unknown[] = [];
        const scope = self as unknown as { shown: unknown[]; registration: ServiceWorkerRegistration };
        scope.shown = shown;
        scope.registration.showNotification = async (title, options) => void shown.push({ title, ...options });
      });
      for (const message of messages)
        await devtools.send("ServiceWorker.deliverPushMessage", {
          origin: relay.url,
          registrationId,
          data: JSON.stringify(message),
        });
      const shown = () => worker.evaluate(() => (self as unknown as { shown: { title: string }[] }).shown);
      await eventually("both notifications are shown", async () => (await shown()).length === 2);
      expect(await shown()).toContainEqual({
        title: "[Cleancast] localhost: test alert",
        body: "This is a test alert. No action is needed.",
        icon: "/shared/icon-192.png",
        tag: messages[1]?.["tag"],
        data: { page: `/dashboard/sites/${site}/settings/alerts` },
      });
    },
    scenarioMs,
  );

  test(
    "the service worker stores nothing and answers no request",
    async () => {
      const { page, open } = browser;
      await open("/account");
      expect(await page.evaluate(() => caches.keys())).toEqual([]);
      const response = await page.reload();
      expect(response?.fromServiceWorker()).toBe(false);
    },
    scenarioMs,
  );

  test(
    "signing out takes the alerts off this browser; without permission nothing changes",
    async () => {
      await signOut(browser.page);
      owner = await signIn(relay, owner.email);
      expect((await owner.ask("GET /me/devices")).json.items).toEqual([]);

      const other = await user(relay, owner);
      await other.context.addInitScript(() => {
        Object.defineProperty(Notification, "permission", { get: () => "default" });
        Notification.requestPermission = async () => "default";
      });
      await other.open("/account");
      await press(other.page, "Turn on for this device");
      await sees(other.page, "the browser was not allowed to show notifications");
      expect(service.got).toHaveLength(2);
      expect(other.errors.scriptErrors).toEqual([]);
    },
    scenarioMs,
  );

  test(
    "the dashboard can be installed",
    async () => {
      const { page, context } = browser;
      const devtools = await context.newCDPSession(page);
      const { errors, data } = await devtools.send("Page.getAppManifest");
      expect(errors).toEqual([]);
      const { icons, start_url } = JSON.parse(data ?? "{}") as { icons: { src: string; sizes: string }[]; start_url: string };
      expect(start_url).toBe("/dashboard/");
      for (const { src, sizes } of icons) {
        const size = await page.evaluate(async (address) => {
          const image = new Image();
          image.src = address;
          await image.decode();
          return `${image.naturalWidth}x${image.naturalHeight}`;
        }, src);
        if (sizes !== "any") expect(size).toBe(sizes);
      }
    },
    scenarioMs,
  );
});

// The tutorial "Your first real Meta conversion in 15 minutes", clicked through in a browser against the stand-in that it starts.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { password } from "../support/apiClient.ts";
import { inChromium } from "../browser/chromium.ts";
import { root } from "../support/documents/documents.ts";
import { call, eventually, newInstallation } from "../support/relay.ts";
import { choose, dialog, field, press, scenarioMs, sees, takeSecret, turnOn, user } from "./users.ts";

const tutorial = readFileSync(join(root, "docs/tutorials/first-meta-conversion.md"), "utf8");

/** Starts `npm run standins -- --only meta` on a free port, and returns what it printed. */
async function startStandin() {
  const args = [join(root, "standins/main.ts"), "--only", "meta", "--port", "0"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  // Also where the test fails: a process that is left running would keep the whole run from ending.
  onTestFinished(() => void child.kill("SIGTERM"));
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await eventually("the stand-in is ready", () => output.includes("CLEANCAST_PLATFORM_ORIGINS="));
  const settings = new Map([...output.matchAll(/^(\w+) {2,}(\S+)$/gm)].map(([, name, value]) => [name, value]));
  const origins = /^CLEANCAST_PLATFORM_ORIGINS='(.+)'$/m.exec(output)?.[1] ?? "";
  return { setting: (name: string) => settings.get(name) ?? "", origins };
}

inChromium("the Meta tutorial", () => {
  test(
    "the clicks of the tutorial lead from an empty installation to a live Meta conversion with its click id",
    async () => {
      const standin = await startStandin();
      const home = await newInstallation("sqlite", { CLEANCAST_PLATFORM_ORIGINS: standin.origins });
      const relay = await home.start();
      const { page, errors } = await user(relay, null);
      let readTo = 0;
      /** Fails if the tutorial does not name the label, in bold, after the last one. */
      const named = (label: string) => {
        const at = tutorial.indexOf(`**${label}**`, readTo);
        expect(at, `the tutorial names ${label} here`).toBeGreaterThan(-1);
        readTo = at;
        return label;
      };

      // 2. Add your site.
      const link = /(http\S+\/dashboard\/setup#\w+)/.exec(relay.output())?.[1] ?? "";
      await page.goto(link.replace("localhost", "127.0.0.1"));
      await field(page, "Your name").fill("Olga Owner");
      await field(page, "Email").fill("olga@example.com");
      await field(page, "Password").fill(password);
      await press(page, "Create owner");
      await sees(page, "See it arrive");
      await choose(page, /localhost/, named("All sites"));
      await press(page, named("Add a site"));
      const adding = dialog(page, "Add a site");
      await field(adding, "Domain").fill("shop.example.com");
      await press(adding, "Add");
      await sees(page, "shop.example.com was added.");

      // 3. Connect Meta.
      await page.getByRole("link", { name: named("Integrations") }).click();
      await page.getByRole("link", { name: named("Meta"), exact: true }).click();
      await field(page, named("Dataset (pixel) ID")).fill(standin.setting("pixel_id"));
      await field(page, named("Access token")).fill(standin.setting("access_token"));
      await press(page, new RegExp(`^${named("More settings")}`));
      await field(page, named("Test event code")).fill(standin.setting("test_event_code"));
      await press(page, named("Connect Meta"));
      await sees(page, "Meta connected and verified");
      await page.getByRole("tab", { name: named("Test event") }).click();
      await press(page, named("Send test event"));
      await sees(page, "Meta accepted it");

      // 4. Record the ad click.
      const person = ["--email", "mona@example.com"];
      await home.run("identity", "put", "shop.example.com", ...person, "fbclid=my-first-click");

      // 5. and 7. Send a test conversion, then a live one.
      const keyOf = async (kind: string) => {
        await page.getByRole("link", { name: "Configuration" }).click();
        await press(page, "Create key");
        const creating = dialog(page, "Create an inbound key");
        await field(creating, "Name").fill(kind);
        await creating.getByText(kind, { exact: true }).click();
        await press(creating, "Create");
        return takeSecret(page);
      };
      const send = async (key: string, orderId: string) => {
        const event = { email: "mona@example.com", event: "purchase", value: 49.9, currency: "EUR", orderId };
        let text = "";
        await eventually("the relay knows the key", async () => {
          const answer = await relay.post(key, event);
          ({ text } = answer);
          return answer.status === 200;
        });
        expect(text).toBe('{"ok":true,"event":"purchase","results":{"meta":{"ok":true}}}');
      };
      named("Configuration");
      named("Create key");
      const testKey = await keyOf(named("Test"));
      named("Create");
      expect(testKey).toMatch(/^cc_test_/);
      await send(testKey, "META-TEST-1");

      // 6. See what Meta received.
      await page.getByRole("link", { name: named("Events") }).click();
      await turnOn(page, named("Test data"));
      await page.getByRole("link", { name: "purchase" }).first().click();
      const trace = page.getByRole("dialog");
      await trace.getByRole("heading", { name: named("Meta") }).waitFor();
      await press(trace, /^Attempt 1/);
      const request = trace.getByLabel("Request", { exact: true });
      await request.waitFor();
      expect(await request.textContent()).toMatch(/"fbc":"fb\.1\.\d+\.my-first-click"/);
      await press(trace, "Close");
      await trace.waitFor({ state: "detached" });

      await send(await keyOf(named("Live")), "META-1");
      const origin = JSON.parse(standin.origins).meta as string;
      const log = await call(origin, { method: "GET", path: "/__standin/log" });
      const { accepted } = JSON.parse(log.text) as { accepted: { event: object }[] };
      expect(accepted.filter(({ event }) => JSON.stringify(event).includes("my-first-click"))).toHaveLength(2);
      expect(errors.scriptErrors).toEqual([]);
      await page.context().close();
    },
    scenarioMs,
  );
});

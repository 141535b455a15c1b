// A person uploads a list of orders, compares it, follows a loss of the funnel to its orders, and sends what is missing.

import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { dayMs } from "../../src/kernel/time.ts";
import { inChromium } from "../browser/chromium.ts";
import { becomeOwner, type Person } from "../support/apiClient.ts";
import { report } from "../support/visits.ts";
import { newInstallation, type Relay } from "../support/relay.ts";
import { checkLayer } from "./access.ts";
import { field, press, row, sees, scenarioMs, turnOn, user, type User } from "./users.ts";

const day = (ahead: number) => new Date(Date.now() + ahead * dayMs).toISOString().slice(0, 10);

inChromium("reconciliation", () => {
  let relay: Relay;
  let owner: Person;
  let site: string;
  let browser: User;

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    relay = await home.start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("GET /sites")).json.items[0].id;
    await home.run("connection", "add", site, "sandbox");
    for (const orderId of ["1001", "1002"])
      await relay.post(relay.key, { email: "ada@customers.example", event: "purchase", orderId, value: 5 });
    browser = await user(relay, owner);
  });
  afterAll(() => expect(browser.errors.scriptErrors).toEqual([]));

  test(
    "an uploaded list is compared, each number of the funnel leads to its orders, and missing ones are sent from there",
    async () => {
      const { page, open } = browser;
      await open(`/sites/${site}/reconciliation`);
      await sees(page, "No orders yet.");
      const now = new Date().toISOString();
      const csv = `order,date,total,email\n#1001,${now},5,\n#1002,${now},9,\n#1003,${now},7,eve@customers.example\n#1004,soon,7,\n`;
      await page
        .locator("input[type=file]")
        .setInputFiles({ name: "orders.csv", mimeType: "text/csv", buffer: Buffer.from(csv) });
      await sees(page, "3 orders written, 1 row refused");
      await field(page, "First day").fill(day(-1));
      await field(page, "Last day").fill(day(1));
      await press(page, "Compare");
      await sees(page, "Never received");
      await page.getByRole("link", { name: "Sandbox", exact: true }).click();
      const funnel = page.getByRole("list", { name: "Funnel" });
      await sees(funnel, /Orders in your list\s*3/);
      await sees(funnel, /Received\s*2/);
      await sees(funnel, /Accepted\s*2/);
      await funnel.getByRole("link", { name: /Lost before Received/ }).click();
      await row(page, "#1003").waitFor();
      await expect.poll(() => page.getByRole("row").count()).toBe(2);
      // No column is empty for every order, and the two files can be told apart.
      expect(await page.getByRole("columnheader").allInnerTexts()).toEqual(["Time", "Order", "Listed"]);
      expect(await page.getByRole("link", { name: /CSV/ }).allInnerTexts()).toEqual(["CSV for the import", "CSV"]);

      await press(page, "Send them");
      const dialog = page.getByRole("dialog");
      await sees(dialog, "Send 1 order to all platforms?");
      await checkLayer(page, "scenes/reconciliation/Repair.tsx");
      await press(dialog, "Send them");
      await sees(page, "1 order sent");
      await page.getByRole("link", { name: "Funnel" }).first().click();
      await sees(funnel, /Orders in your list\s*3/);
      await open(`/sites/${site}/reconciliation`);
      await page.getByRole("link", { name: /Other value/ }).click();
      await row(page, "#1002").waitFor();
      await page.getByRole("link", { name: "Turn on corrections" }).click();
      await turnOn(page, "Correct refunded conversions");
      await press(page, "Save");
      await sees(page, "Saved.");
      await page.goBack();
      await press(page, "Restate the values");
      await sees(dialog, "Restate the conversions of 1 order?");
      await checkLayer(page, "scenes/reconciliation/Repair.tsx");
      await press(dialog, "Restate the values");
      await sees(page, "1 order with a correction");
      await sees(row(page, "#1002"), "cannot be taken back");

      const feed = { url: "https://shop.example/orders.csv", header: null };
      expect((await owner.ask(`PUT /sites/${site}/order-feed`, feed)).status).toBe(200);
      await open(`/sites/${site}/reconciliation`);
      await press(page, "Remove");
      await checkLayer(page, "scenes/reconciliation/Orders.tsx");
      await press(dialog, "Remove");
      await field(page, "Or fetch it every day from").waitFor();
    },
    scenarioMs,
  );

  test(
    "a file of past conversions is matched to fields, checked, imported, and its refused rows come back with reasons",
    async () => {
      const { page, open } = browser;
      const time = new Date(Date.now() - dayMs).toISOString();
      const lines = [
        "Customer;Bestellnr;Paid at;Net",
        `flo@customers.example;P-1;${time};"10,50"`,
        `flo@customers.example;P-2;soon;5`,
        `"not an address";P-3;${time};5`,
      ];
      await open(`/sites/${site}/configuration/import`);
      await sees(page, "Nothing was imported yet");
      await page.locator("input[type=file]").setInputFiles({
        name: "past.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(`${lines.join("\r\n")}\r\n`),
      });
      // What the names of the columns do not tell is chosen, and the page says what is missing.
      await sees(page, "A column with the email or its hash");
      const fieldOf = (column: string) => page.getByLabel(`Field of the column ${column}`);
      expect(await fieldOf("Paid at").inputValue()).toBe("eventTime");
      await fieldOf("Customer").selectOption("Email");
      await fieldOf("Bestellnr").selectOption("Order ID");
      await fieldOf("Net").selectOption("Value");
      await field(page, "Event of all rows").fill("purchase");
      await page.getByText("A column with the email or its hash").waitFor({ state: "detached" });
      await page.getByLabel("Also send to platforms").check();
      await page.getByLabel("Sandbox").check();

      await press(page, "Check the file");
      await sees(page, "Checked: nothing was written");
      await press(page, "Import 1 row");
      const confirm = page.getByRole("dialog");
      await sees(confirm, /sent to Sandbox/);
      await checkLayer(page, "scenes/configuration/import/Import.tsx");
      await press(confirm, "Import 1 row");
      await sees(page, /^Imported$/);
      await sees(page, /eventTime is not a time that can be read.*\(line 3\)/);
      const download = page.waitForEvent("download");
      await press(page, "Download refused rows");
      const file = await download;
      expect(file.suggestedFilename()).toBe("past-refused.csv");
      const text = readFileSync(await file.path(), "utf8").split("\n");
      expect(text[0]).toBe("line;reason;Customer;Bestellnr;Paid at;Net");
      expect(text[1]).toMatch(/^3;"eventTime is not a time [^"]*";flo@customers\.example;P-2;soon;5$/);
      expect(text[2]).toContain(`"not an address";P-3`);
      await sees(row(page, "past.csv"), "done");

      await open(`/sites/${site}/events?search=P-1`);
      await row(page, "P-1").waitFor();
      await open(`/sites/${site}/settings/audit`);
      await sees(row(page, "Import finished"), "past.csv");

      // A new tag is seen at once, with its pages.
      expect((await report(relay, "localhost", "visit")).status).toBe(204);
      await open(`/sites/${site}/configuration/tag`);
      await sees(page, /on 1 page$/);
    },
    scenarioMs,
  );
});

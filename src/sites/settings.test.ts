import { describe, expect, test } from "vitest";
import { auditedChanges, describeSettings, readSettings, settingLabels, withDefaults, type SiteSettings } from "./settings.ts";
import { SettingFault } from "./settingForms.ts";
import { dayMs as day } from "../kernel/time.ts";

const fresh = withDefaults({});

function changed(changes: Record<string, string>): SiteSettings {
  const result = readSettings(changes);
  if (result instanceof SettingFault) throw new Error(result.message);
  return { ...fresh, ...result };
}
function fault(changes: Record<string, string>): string | null {
  const result = readSettings(changes);
  return result instanceof SettingFault ? result.message : null;
}

describe("a new site", () => {
  test("a new site has inbound off, 90 days and 1 hour for duplicates, no rate limit, opt-out mode and no filter", () => {
    expect(fresh).toEqual({
      inbound: false,
      dedupOrderMs: 90 * day,
      dedupNoOrderMs: 3_600_000,
      rateLimit: 0,
      consentMode: "opt-out",
      keepMs: 90 * day,
      keepEventsMs: 90 * day,
      keepLogMs: 90 * day,
      country: null,
      timeZone: "UTC",
      blockedDomains: [],
      blockDisposable: false,
      blockedPersons: [],
      allowedPersons: [],
      botThreshold: 60,
      evidence: [],
      allowUserAgents: [],
      denyUserAgents: [],
      allowNetworks: [],
      denyNetworks: [],
      allowCountries: [],
      denyCountries: [],
      alertEmails: [],
      alertWebhook: null,
      conversionsWithoutEmail: false,
      linkDomains: [],
      corrections: false,
      alertSuccessRate: 80,
      weeklyReport: null,
      reportLanguage: "en",
    });
  });

  test("the settings of a new site read back in the form that people write", () => {
    expect(describeSettings(fresh)).toEqual({
      inbound: "off",
      dedup_order: "90d",
      dedup_no_order: "1h",
      rate_limit: "off",
      consent_mode: "opt-out",
      keep: "90d",
      keep_events: "90d",
      keep_log: "90d",
      country: "none",
      time_zone: "UTC",
      block_domains: "",
      block_disposable: "off",
      block_persons: "",
      allow_persons: "",
      bot_threshold: "60",
      evidence: "",
      allow_user_agents: "",
      deny_user_agents: "",
      allow_networks: "",
      deny_networks: "",
      allow_countries: "",
      deny_countries: "",
      alert_emails: "",
      alert_webhook: "none",
      conversions_without_email: "off",
      link_domains: "",
      corrections: "off",
      alert_success_rate: "80",
      weekly_report: "off",
      report_language: "en",
    });
  });

  test("every setting has a label and a help text", () => {
    for (const { label, help } of settingLabels) {
      expect(label).toMatch(/^[a-z_]+$/);
      expect(help.length).toBeGreaterThan(10);
    }
    expect(settingLabels.map((one) => one.label)).toEqual(Object.keys(describeSettings(fresh)));
  });
});

describe("stored settings", () => {
  test("stored settings are completed with the current defaults", () => {
    expect(withDefaults({ inbound: true, rateLimit: 5 })).toEqual({ ...fresh, inbound: true, rateLimit: 5 });
  });

  test("false, 0 and empty lists are values, not missing settings", () => {
    const stored = { inbound: false, rateLimit: 0, blockedDomains: [], country: null };
    expect(withDefaults(stored)).toEqual(fresh);
  });

  test("lists that did not change stay the same arrays, so that they are not compiled again", () => {
    const known = withDefaults({ denyNetworks: ["192.0.2.1", "192.0.2.2"], denyUserAgents: ["abc"] });
    const again = withDefaults({ denyNetworks: ["192.0.2.1", "192.0.2.2"], denyUserAgents: ["abd"], inbound: true }, known);
    expect(again).toEqual({ ...known, denyUserAgents: ["abd"], inbound: true });
    expect(again.denyNetworks).toBe(known.denyNetworks);
  });

  test("stored settings of a newer version are dropped", () => {
    expect(withDefaults({ fromTheFuture: 1 })).toEqual(fresh);
  });
});

describe("changes", () => {
  test.each<[string, string, Partial<SiteSettings>]>([
    ["inbound", "on", { inbound: true }],
    ["inbound", "off", { inbound: false }],
    ["dedup_order", "10s", { dedupOrderMs: 10_000 }],
    ["dedup_order", "30m", { dedupOrderMs: 1_800_000 }],
    ["dedup_order", "12h", { dedupOrderMs: 43_200_000 }],
    ["dedup_order", "400d", { dedupOrderMs: 400 * day }],
    ["dedup_no_order", "1s", { dedupNoOrderMs: 1000 }],
    ["rate_limit", "600", { rateLimit: 600 }],
    ["rate_limit", "off", { rateLimit: 0 }],
    ["consent_mode", "opt-in", { consentMode: "opt-in" }],
    ["country", "DE", { country: "DE" }],
    ["country", "de", { country: "DE" }],
    ["country", "none", { country: null }],
    ["block_domains", "Example.com, spam.example ,example.com", { blockedDomains: ["example.com", "spam.example"] }],
    ["block_domains", "", { blockedDomains: [] }],
    [
      "link_domains",
      "Checkout.Example, https://shop.example/cart ,müller.example,shop.example",
      { linkDomains: ["checkout.example", "shop.example", "xn--mller-kva.example"] },
    ],
    ["link_domains", "", { linkDomains: [] }],
    ["deny_networks", "192.0.2.7, 10.0.0.0/8,2001:DB8::/32", { denyNetworks: ["192.0.2.7", "10.0.0.0/8", "2001:db8::/32"] }],
    ["block_disposable", "on", { blockDisposable: true }],
    ["keep_events", "400d", { keepEventsMs: 400 * day }],
    ["keep_log", "1d", { keepLogMs: day }],
    ["alert_emails", "Ops@example.com, a@b.example", { alertEmails: ["ops@example.com", "a@b.example"] }],
    ["alert_webhook", "https://hooks.example.com/T/1?x=y", { alertWebhook: "https://hooks.example.com/T/1?x=y" }],
    ["alert_webhook", "none", { alertWebhook: null }],
    ["corrections", "on", { corrections: true }],
    ["alert_success_rate", "95", { alertSuccessRate: 95 }],
    ["alert_success_rate", "off", { alertSuccessRate: 0 }],
    ["weekly_report", "Monday 08", { weeklyReport: "monday 8" }],
    ["weekly_report", "off", { weeklyReport: null }],
    ["report_language", "de", { reportLanguage: "de" }],
    ["block_persons", `${"A".repeat(64)},${"b".repeat(64)}`, { blockedPersons: ["a".repeat(64), "b".repeat(64)] }],
  ])("%s=%s is accepted", (label, text, expected) => {
    expect(changed({ [label]: text })).toEqual({ ...fresh, ...expected });
  });

  test("several changes at once are applied all or none", () => {
    expect(changed({ inbound: "on", rate_limit: "60" })).toEqual({ ...fresh, inbound: true, rateLimit: 60 });
    expect(fault({ inbound: "on", rate_limit: "many" })).not.toBeNull();
    expect(fresh.inbound).toBe(false);
  });

  test("every setting can be read back as it was written", () => {
    const all = changed({
      inbound: "on",
      dedup_order: "36h",
      dedup_no_order: "90s",
      rate_limit: "600",
      consent_mode: "opt-in",
      country: "jp",
      block_domains: "a.example,b.example",
      block_disposable: "on",
      block_persons: "c".repeat(64),
    });
    expect(changed(describeSettings(all))).toEqual(all);
    expect(changed(describeSettings(fresh))).toEqual(fresh);
  });

  test("reading changes does not modify the given settings", () => {
    const before = structuredClone(fresh);
    changed({ inbound: "on", block_domains: "x.example" });
    expect(fresh).toEqual(before);
  });
});

describe("the audit log", () => {
  test("the audit log keeps neither mail addresses nor the path of an alert webhook", () => {
    const changes = {
      alert_emails: "ops@example.com",
      alert_webhook: "https://hooks.example.com/T0K3N",
      dedup_order: "30d",
    };
    const result = readSettings(changes);
    if (result instanceof SettingFault) throw new Error(result.message);
    expect(auditedChanges(changes, result)).toEqual({
      alert_emails: "1 address",
      alert_webhook: "https://hooks.example.com/…",
      dedup_order: "30d",
    });
  });
});

describe("refused settings", () => {
  test.each([
    ["inbound", "yes", "inbound must be on or off."],
    ["inbound", "", "inbound must be on or off."],
    ["block_disposable", "true", "block_disposable must be on or off."],
    ["dedup_order", "90", "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["dedup_order", "401d", "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["dedup_order", "0s", "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["dedup_order", "-1d", "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["dedup_order", "1.5d", "dedup_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["dedup_no_order", "1w", "dedup_no_order must be at most 400 days, written like 90d, 12h, 30m or 10s."],
    ["rate_limit", "0", "rate_limit must be off or a whole number of requests per minute."],
    ["rate_limit", "-5", "rate_limit must be off or a whole number of requests per minute."],
    ["rate_limit", "1e3", "rate_limit must be off or a whole number of requests per minute."],
    ["rate_limit", "10000000", "rate_limit must be off or a whole number of requests per minute."],
    ["consent_mode", "optin", "consent_mode must be opt-out or opt-in."],
    ["country", "Germany", "country must be none or a two-letter country code like DE."],
    ["country", "XX", "country must be none or a two-letter country code like DE."],
    ["country", "", "country must be none or a two-letter country code like DE."],
    ["country", "D1", "country must be none or a two-letter country code like DE."],
    ["block_domains", "ok.example,nodot", "block_domains must be domains like example.com; nodot is not one."],
    ["link_domains", "ok.example,nodot", "link_domains must be domains like example.com; nodot is not one."],
    ["link_domains", "192.0.2.1", "link_domains must be domains like example.com; 192.0.2.1 is not one."],
    ["link_domains", Array.from({ length: 51 }, (_, i) => `d${i}.example`).join(), "link_domains must have at most 50 entries."],
    ["block_domains", "two words.example", expect.stringContaining("block_domains must be domains")],
    ["keep_events", "12h", "keep_events must be from 1 to 400 days, written like 90d."],
    ["keep_log", "12h", "keep_log must be from 1 to 400 days, written like 90d."],
    ["keep_log", "401d", "keep_log must be from 1 to 400 days, written like 90d."],
    ["alert_emails", "ops", "alert_emails must be email addresses separated by commas."],
    ["alert_emails", "a@b.example\r\nBcc: c@d.example", "alert_emails must be email addresses separated by commas."],
    [
      "alert_webhook",
      "ftp://hooks.example.com",
      "alert_webhook must be none or an https address without user name and password.",
    ],
    [
      "alert_webhook",
      "https://u:p@hooks.example.com",
      "alert_webhook must be none or an https address without user name and password.",
    ],
    ["alert_success_rate", "101", "alert_success_rate must be off or a whole number from 1 to 100."],
    ["alert_success_rate", "0", "alert_success_rate must be off or a whole number from 1 to 100."],
    ["weekly_report", "monday 24", "weekly_report must be off or a day and an hour, like monday 8."],
    ["weekly_report", "8", "weekly_report must be off or a day and an hour, like monday 8."],
    ["report_language", "fr", "report_language must be one of en, de."],
    ["deny_networks", "10.1", expect.stringContaining("deny_networks must be")],
    ["deny_networks", "10.0.0.0/33", expect.stringContaining("deny_networks must be")],
    ["deny_networks", "2001:db8::/", expect.stringContaining("deny_networks must be")],
    ["block_persons", "abc", "block_persons must be hashed emails of 64 hex characters."],
    ["block_persons", "g".repeat(64), "block_persons must be hashed emails of 64 hex characters."],
  ])("%s=%s is refused with a message", (label, text, message) => {
    expect(fault({ [label]: text })).toEqual(message);
  });

  test("a long list of networks or user agents is read about as fast as one of other words", () => {
    const textOf = (entry: (i: number) => string) => Array.from({ length: 10_000 }, (_, i) => entry(i)).join();
    const fastest = (label: string, text: string) => {
      const times = Array.from({ length: 5 }, () => {
        const startedAt = performance.now();
        changed({ [label]: text });
        return performance.now() - startedAt;
      });
      return Math.min(...times);
    };
    const usual = fastest(
      "block_persons",
      textOf((i) => i.toString(16).padStart(64, "0")),
    );
    expect(
      fastest(
        "deny_networks",
        textOf((i) => `11.${i >> 8}.${i & 255}.0/24`),
      ),
    ).toBeLessThan(4 * usual);
    expect(
      fastest(
        "deny_user_agents",
        textOf((i) => `mozilla*${i}*bot`),
      ),
    ).toBeLessThan(4 * usual);
  });

  test("a plain email among blocked persons is not repeated", () => {
    expect(fault({ block_persons: "ada@example.com" })).not.toContain("ada");
  });

  test.each(["inbounds", "", "__proto__", "constructor", "dedupOrderMs"])("%j is not a setting", (label) => {
    const message = fault(Object.fromEntries([[label, "on"]]));
    expect(message).toContain("is not a setting of a site. Known: inbound, dedup_order,");
  });

  test("a country without phone numbers is refused: it would silently drop every local number", () => {
    // A region that is no country, a union of countries, and a code for software tests.
    expect(["ZZ", "EU", "XA"].filter((country) => fault({ country }) === null)).toEqual([]);
  });

  test("country=UK is read as GB, the code that the phone library knows", () => {
    expect(changed({ country: "UK" }).country).toBe("GB");
  });

  test("a blocked domain that no email address can have is refused: it would filter nothing", () => {
    const useless = [".example.com", "*.example.com", "example.com.", "https://example.com", "a..example"];
    expect(useless.filter((text) => fault({ block_domains: text }) === null)).toEqual([]);
  });
});

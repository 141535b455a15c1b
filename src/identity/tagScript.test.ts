import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { browserIds, clickIds, isNoClick, utmFields } from "./clickIds.ts";
import { buildTagScript } from "./tagScript.ts";

/** The patterns of names as a site's tag gets them. */
function patterns(): { param: RegExp; cookie: RegExp } {
  const { text } = buildTagScript("", { id: "site", settings: { consentMode: "opt-out", linkDomains: [] } });
  const [, , params, cookies] = JSON.parse(/\((\[.*\])\);$/m.exec(text)?.[1] ?? "") as string[];
  // As in tag/ids.ts, where the name must be the first group of the cookie's pattern.
  return {
    param: new RegExp(`^(${params})$`, "i"),
    cookie: new RegExp(`(?:^|; )(${cookies})=([^;]*)`),
  };
}

test("the tag recognises every click id, in any case, and the UTM fields", () => {
  const { param } = patterns();
  for (const { name } of clickIds) {
    expect(param.test(name), name).toBe(true);
    expect(param.test(name.toUpperCase()), name).toBe(true);
    // Google adds fields of this family.
    expect(param.test(`${name}x`), name).toBe(name.startsWith("gad_"));
  }
  for (const name of ["utm_source", "utm_marketing_tactic"]) expect(param.test(name)).toBe(true);
});

test("the second part of the tag knows the ids of clicks, and not what comes with them or without an advertisement", () => {
  const code = readFileSync(new URL("../../tag/use.ts", import.meta.url), "utf8");
  const click = new RegExp(/const mayReport = \/(.+)\/i\.test\(/.exec(code)?.[1] ?? "", "i");
  const found = (names: readonly string[]) =>
    names.filter((name) => ["?", "?a=b&"].every((before) => click.test(`${before}${name}=value&c=d`)));
  const clicks = clickIds.map(({ name }) => name).filter((name) => !isNoClick(name));
  expect(found(clicks.map((name) => name.toUpperCase()))).toHaveLength(clicks.length);
  const others = [...clickIds.map(({ name }) => name).filter(isNoClick), ...utmFields, "q", "id", "product_id", "page", "ref"];
  expect([found(clicks), found(others)]).toEqual([clicks, []]);
});

test("the tag recognises every cookie with a browser id, and reads its whole value", () => {
  const { cookie } = patterns();
  for (const name of [...browserIds.map((id) => id.name), "_ga_ABC123"]) {
    const value = "a.1=b%2F";
    const [, found, read] = cookie.exec(`first=1; ${name}=${value}; last=2`) ?? [];
    expect([found, read]).toEqual([name, value]);
  }
});

test.each(["q", "email", "token", "session", "clid2", "utm", "PHPSESSID", "_gaexp", "wordpress_logged_in"])(
  "the tag never reads %s, neither from the address nor from a cookie",
  (name) => {
    const { param, cookie } = patterns();
    expect(param.test(name)).toBe(false);
    expect(cookie.test(`${name}=secret`)).toBe(false);
  },
);

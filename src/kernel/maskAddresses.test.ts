import { hash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eraseMasks, maskAddresses, maskAndCut } from "./maskAddresses.ts";

const mask = "email-[0-9a-f]{16}";

describe("an address in a text", () => {
  test.each([
    ["ada@example.com", mask],
    ["ADA@Example.COM", mask],
    ["order ada.b+tag@mail.example.co.uk paid", `order ${mask} paid`],
    ["a-1001/ada@example.com/2", `a-1001/${mask}/2`],
    ["https://shop.example/account/ada@example.com/orders", `https://shop\\.example/account/${mask}/orders`],
    ["https://shop.example/u/ada%40example.com", `https://shop\\.example/u/${mask}`],
    ["https://shop.example/u/ada%2540example.com", `https://shop\\.example/u/${mask}`],
    ["https://shop.example/jos%C3%A9@ex%C3%A4mple.com", `https://shop\\.example/${mask}`],
    ["mailto:ada@example.com?subject=x", `mailto:${mask}\\?subject=x`],
    ["email=ada@example.com&x=1", `email=${mask}&x=1`],
    ["<ada@example.com>, (bob@example.com)", `<${mask}>, \\(${mask}\\)`],
    ['"ada lovelace"@example.com', mask],
    ["josé@exämple.de", mask],
    ["李雷@例子.公司", mask],
    ["o'brien!x@example.com", mask],
    ["ada@example.com.", `${mask}\\.`],
    ["newsletter_ada@my_shop.example", mask],
  ])("%j is masked", (text, form) => {
    expect(maskAddresses(text)).toMatch(new RegExp(`^${form}$`));
  });

  test.each([
    "purchase",
    "A-1001",
    "@ada",
    "https://medium.example/@ada/story",
    "pkg@1.2.3",
    "ada@localhost",
    "5 @ 3.50",
    "a@b",
    "100%40",
    "50%40off",
    "",
  ])("%j holds none and stays as it is", (text) => {
    expect(maskAddresses(text)).toBe(text);
  });

  test("equal texts get equal masks, and different texts different ones, also where only the case differs", () => {
    const texts = ["a-ada@example.com", "b-ada@example.com", "a-Ada@example.com", "a-ada@example.org", "a-ada%40example.com"];
    expect(new Set(texts.map(maskAddresses)).size).toBe(texts.length);
    expect(texts.map(maskAddresses)).toEqual(texts.map(maskAddresses));
  });

  test("no address of any form stays, whatever is around it, and masking again changes nothing", () => {
    const around = fc.string({
      unit: fc.constantFrom(..."ab1 /-_.:;,=&?#|()<>[]\\\"'%\n".split("")),
      maxLength: 20,
    });
    fc.assert(
      fc.property(around, fc.emailAddress(), around, (before, email, after) => {
        const masked = maskAddresses(`${before} ${email} ${after}`);
        const [local = "", domain = ""] = email.split("@");
        fc.pre(!/[/?&=#|]$/.test(local));
        expect(masked).not.toContain(`@${domain}`);
        // Signs that separate parts of a path or query may be left with what is before them.
        const rest = local.split(/[/?&=#|]/).at(-1) ?? "";
        if (rest.length > 6) expect(masked).not.toContain(rest);
        expect(maskAddresses(masked)).toBe(masked);
      }),
    );
  });

  test("a long text is masked before it is cut, and no part of an address is left at the end", () => {
    const address = `${"l".repeat(60)}@${"d".repeat(60)}.example`;
    for (let before = 0; before < 2500; before += 17)
      for (const text of [
        `${"- ".repeat(before)}${address} ${"x ".repeat(3000)}`,
        `${`${address} `.repeat(before / 17)}${"- ".repeat(before % 300)}${address} end`,
      ]) {
        const cut = maskAndCut(text, 512);
        expect(cut.length).toBeLessThanOrEqual(512);
        expect(cut).not.toMatch(/l{3}|d{3}/);
        if (!text.slice(0, 512).includes("l")) expect(cut).toBe(text.slice(0, 512));
      }
    expect(maskAndCut(`of ${address}`, 512)).toMatch(/^of email-[0-9a-f]{16}$/);
  });

  test("a long text with an @ and no address takes no longer than other work on it", () => {
    const text = `${"a".repeat(1500)}@`;
    const fastest = (work: () => unknown) => {
      const times = Array.from({ length: 5 }, () => {
        const startedAt = performance.now();
        for (let i = 0; i < 200; i++) work();
        return performance.now() - startedAt;
      });
      return Math.min(...times);
    };
    expect(fastest(() => maskAddresses(text))).toBeLessThan(20 * fastest(() => hash("sha256", text)));
  });

  test("an erased mask says nothing about its address", () => {
    const [one, other] = ["order ada@example.com", "order bob@example.com"].map(maskAddresses);
    expect(eraseMasks(one ?? "")).toBe("order email");
    expect(eraseMasks(other ?? "")).toBe("order email");
    expect(eraseMasks("email-list")).toBe("email-list");
  });
});

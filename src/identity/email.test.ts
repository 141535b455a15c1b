import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { canonicalEmail, emailForms, looksLikeEmail } from "./email.ts";

const long = 100_000;

describe("the canonical form", () => {
  test.each([
    ["  John.Doe+Shop@Example.COM \n", "john.doe+shop@example.com"],
    ["\u00a0a@x.com\u3000\ufeff", "a@x.com"],
    ["JOSÉ@Exämple.DE", "josé@exämple.de"],
  ])("the canonical form of %j is only trimmed and lower-cased", (address, canonical) => {
    expect(canonicalEmail(address)).toBe(canonical);
    expect(emailForms(address).canonical).toBe(canonical);
  });

  test("composed and decomposed letters stay different, as they do for senders of hashed_email", () => {
    expect(canonicalEmail("jose\u0301@x.com")).not.toBe(canonicalEmail("jos\u00e9@x.com"));
  });
});

describe("the Google form", () => {
  test.each([
    ["Al.Ex.Z+shop@gmail.com", "alexz@gmail.com"],
    ["al.ex.z+a+b@GoogleMail.com", "alexz@googlemail.com"],
    ["alexz@gmail.com", "alexz@gmail.com"],
  ])("the Google form of %s has no dot and no tag", (address, google) => {
    expect(emailForms(address).google).toBe(google);
  });

  test.each(["al.ex+shop@example.com", "al.ex+shop@gmail.com.example", "al.ex+shop@notgmail.com", "a.b@gmail.co"])(
    "the Google form of %s keeps dots and tag, because it is not at Gmail",
    (address) => {
      expect(emailForms(address).google).toBe(address);
    },
  );
});

describe("the Microsoft form", () => {
  test.each([
    ["J.o.hn+news@Contoso.com", "john@contoso.com"],
    ["a.b-c_d+x.y@mail.example.org", "ab-c_d@mail.example.org"],
    ["john@contoso.com", "john@contoso.com"],
  ])("the Microsoft form of %s loses dots and tag before the @ and nothing after it", (address, microsoft) => {
    expect(emailForms(address).microsoft).toBe(microsoft);
  });

  test.each([
    ["José.Müller@x.com", "josemuller@x.com"],
    ["jose\u0301@x.com", "jose@x.com"],
    ["ana@mañana.example", "ana@manana.example"],
    ["정@x.com", "정@x.com"],
  ])("the Microsoft form of %s has no accents", (address, microsoft) => {
    expect(emailForms(address).microsoft).toBe(microsoft);
  });
});

describe("the Reddit form", () => {
  test.each([
    ["Al.ice$+Apple@Example.Com", "alice@example.com"],
    ["a.b-c_d'e+x@sub-domain.example.org", "abcde@sub-domain.example.org"],
    ["User123@example.com", "user123@example.com"],
  ])("the Reddit form of %s keeps only letters and digits before the @", (address, reddit) => {
    expect(emailForms(address).reddit).toBe(reddit);
  });

  test("the Reddit form keeps letters beyond ASCII, so that two people are never confused", () => {
    expect(emailForms("josé@x.com").reddit).toBe("josé@x.com");
    expect(emailForms("jose\u0301@x.com").reddit).toBe("jose\u0301@x.com");
    expect(emailForms("用.户@例え.jp").reddit).toBe("用户@例え.jp");
  });
});

describe("forms with nothing before the @", () => {
  test.each([
    ["+tag@x.com", { google: "+tag@x.com", microsoft: undefined, reddit: undefined }],
    ["+tag@gmail.com", { google: undefined, microsoft: undefined, reddit: undefined }],
    ["...@x.com", { google: "...@x.com", microsoft: undefined, reddit: undefined }],
    ["._.@gmail.com", { google: "_@gmail.com", microsoft: "_@gmail.com", reddit: undefined, amazon: "..@gmail.com" }],
    ["_@x.com", { google: "_@x.com", microsoft: "_@x.com", reddit: undefined }],
    ["@x.com", { google: undefined, microsoft: undefined, reddit: undefined }],
    ["no address", { google: undefined, microsoft: undefined, reddit: undefined }],
    ["+", { google: undefined, microsoft: undefined, reddit: undefined }],
    ["", { google: undefined, microsoft: undefined, reddit: undefined }],
  ])("%j lacks the forms with nothing before the @", (address, forms) => {
    expect(emailForms(address)).toEqual({ canonical: address, ...forms });
  });
});

describe("looksLikeEmail", () => {
  test.each([
    "a@b.co",
    "  padded@example.com\n",
    "First.Last+tag@Sub.Example.co.uk",
    "o'brien!#$%&*/=?^_`{|}~-@example.com",
    "two..dots@docomo.example",
    "+tag@example.com",
    '"a@b"@example.com',
    '"quote\\"inside"@example.com',
    "josé@exämple.de",
    "用户@例え.jp",
    "me@i❤.ws",
    "a@xn--bcher-kva.example",
    "a@1.example",
    `${"a".repeat(64)}@example.com`,
  ])("%j is an email address", (text) => {
    expect(looksLikeEmail(text)).toBe(true);
  });

  test.each([
    "",
    "   ",
    "+",
    "@",
    "a",
    "a@",
    "@example.com",
    "example.com",
    "a@localhost",
    "a@b..com",
    "a@.com",
    "a@example.com.",
    "a@-example.com",
    "a@example-.com",
    "a@exam_ple.com",
    "a@[192.0.2.1]",
    "a b@example.com",
    "a@exa mple.com",
    "a\u00a0b@example.com",
    "a\u0000@example.com",
    "a@example\u007f.com",
    "a@b@example.com",
    'a"@"b@example.com',
    '"a"@"b"@example.com',
    '""@example.com',
    '"a\\"@example.com',
    '"open@example.com',
    "a@example.com,b@example.com",
    "a@example.com; b@example.com",
    "mailto:a@example.com",
    "Jo <a@example.com>",
    "<a@example.com>",
    "a\ud800@example.com",
    "a@exam\udc00ple.com",
    `${"a".repeat(65)}@example.com`,
    `a@${"b.".repeat(130)}com`,
  ])("%j is not an email address", (text) => {
    expect(looksLikeEmail(text)).toBe(false);
  });
});

describe("hostile input is read quickly and never throws", () => {
  test.each([
    ["letters", "a".repeat(long)],
    ["@ signs", "@".repeat(long)],
    ["dots in the domain", `a@${".".repeat(long)}`],
    ["hyphens in the domain", `a@b${"-".repeat(long)}.com`],
    ["labels", `a@${"b.".repeat(long)}`],
    ["plus signs", `${"+".repeat(long)}@gmail.com`],
    ["quotes", `${'"'.repeat(long)}@x.com`],
    ["backslashes", `"${"\\".repeat(long)}"@x.com`],
    ["space", `a${" ".repeat(long)}@x.com`],
    ["lone surrogates", `${"\ud800".repeat(long)}@x.com`],
    ["combining marks", `${"\u0301".repeat(long)}@x.com`],
  ])("an email with 100,000 %s is read quickly", (_, text) => {
    const cpuMs = cpuMsOf(() => {
      expect(looksLikeEmail(text)).toBe(false);
      expect(emailForms(text).canonical).toBe(text);
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});

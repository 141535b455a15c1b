import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { cpuMsOf } from "../../test/support/cpuTime.ts";
import { hashEmail, personOf } from "../../test/support/person.ts";
import { looksLikeEmail } from "./email.ts";
import { addKnownForms, hashPerson, Plain, PlainEmail, readEmail, readEmailSha256, readSha256 } from "./person.ts";

const email = "person@example.com";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const phoneOf = (phone: string, country?: string) => personOf({ email, phone }, { country }).phoneSha256;

describe("hashes are the ones that the platforms publish", () => {
  test.each([
    ["Google", " AlexZ@Example.com", "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a"],
    ["Meta", "John_Smith@gmail.com ", "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f"],
    ["Snapchat", "person@example.com", "542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345"],
  ])("%s publishes the same hash of the email %j", (_, address, hash) => {
    expect(personOf({ email: address }).emailSha256).toBe(hash);
    expect(hashEmail(address)).toBe(hash);
  });

  test("Google's hash leaves out the dots and the tag of Gmail addresses only", () => {
    expect(personOf({ email: "AlexZ@Example.com" }).emailGoogleSha256).toBe(
      "509e933019bb285a134a9334b8bb679dff79d0ce023d529af4bd744d47b4fd8a",
    );
    expect(personOf({ email: "john_.smith+x@gmail.com" }).emailGoogleSha256).toBe(
      "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f",
    );
  });

  test("Microsoft's hash leaves out the dots and the tag before the @", () => {
    expect(personOf({ email: "J.ohn+deals@Contoso.com" }).emailMicrosoftSha256).toBe(
      "ec81f3ac7b2b19675bab9d54cf416f9f18cff87c97da5cca82c0f0891bc40602",
    );
  });

  test("Reddit's hash keeps only letters and digits before the @", () => {
    expect(personOf({ email: "Al.ice$+Apple@Example.Com" }).emailRedditSha256).toBe(
      "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976",
    );
  });

  test.each([
    ["Google", "+1 (800) 555-0100", "fb4f73a6ec5fdb7077d564cdd22c3554b43ce49168550c3b12c547b78c517b30"],
    ["Microsoft", "+1 425-555-1234", "c59475d96e9f01d7d18d06cfad84dd02333207f02c0c2c5663ef2782cda0390e"],
    ["X", "+11234567890", "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231"],
  ])("%s hashes the phone number %j with its plus", (_, phone, hash) => {
    expect(personOf({ email, phone }).phoneSha256).toBe(hash);
  });

  test.each([
    ["Meta", "+1 (650) 555-1212", "e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176"],
    ["Snapchat", "+44 844 412 4653", "dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383"],
  ])("%s hashes the phone number %j as digits", (_, phone, hash) => {
    expect(personOf({ email, phone }).phoneDigitsSha256).toBe(hash);
  });

  test.each([
    ["Meta", "Mary", "6915771be1c5aa0c886870b6951b03d7eafc121fea0e80a5ea83beb7c449f4ec"],
    ["Meta", "Valéry", "08e1996b5dd49e62a4b4c010d44e4345592a863bb9f8e3976219bac29417149c"],
    ["Meta", "정", "8fa8cd9c440be61d0151429310034083132b35975c4bea67fdd74158eb51db14"],
    ["Snapchat", "Raphaël", "e74bb89e718fe1e19c422a48382870399f8bf7ca8dfa008739e75b0be76627b7"],
  ])("%s publishes the same hash of the name %s", (_, name, hash) => {
    expect(personOf({ email, firstName: name, lastName: name })).toMatchObject({
      firstNameSha256: hash,
      lastNameSha256: hash,
    });
  });
});

describe("a person", () => {
  test("a person with every field has every form, and nothing in plain text", () => {
    const person = personOf(
      {
        email: " J.Doe+x@Gmail.com",
        phone: "030 901820",
        firstName: "Jo-Ann ",
        lastName: "O'Neil",
      },
      { country: "DE" },
    );
    expect(person).toEqual({
      emailSha256: sha256("j.doe+x@gmail.com"),
      emailGoogleSha256: sha256("jdoe@gmail.com"),
      emailMicrosoftSha256: sha256("jdoe@gmail.com"),
      emailRedditSha256: sha256("jdoe@gmail.com"),
      phoneSha256: sha256("+4930901820"),
      phoneDigitsSha256: sha256("4930901820"),
      firstNameSha256: sha256("joann"),
      lastNameSha256: sha256("oneil"),
    });
    for (const value of Object.values(person)) expect(value).toMatch(/^[0-9a-f]{64}$/);
  });

  test("a person made from a plain email has all four forms even where they are equal", () => {
    const hash = sha256(email);
    expect(personOf({ email })).toEqual({
      emailSha256: hash,
      emailGoogleSha256: hash,
      emailMicrosoftSha256: hash,
      emailRedditSha256: hash,
    });
  });

  test("a person made from a hash alone has just that form, in lower case", () => {
    const emailSha256 = readSha256(hashEmail(email).toUpperCase());
    expect(emailSha256 && hashPerson({ emailSha256 })).toEqual({ emailSha256: hashEmail(email) });
  });

  test("the identity record adds the forms that the hash alone does not give, and changes none", () => {
    const known = personOf({ email: "j.doe+x@gmail.com" });
    const { emailSha256, ...forms } = known;
    expect(addKnownForms({ emailSha256 }, forms)).toEqual(known);
    expect(addKnownForms({ emailSha256 }, {})).toEqual({ emailSha256 });
    const other = personOf({ email });
    expect(addKnownForms(other, forms)).toEqual(other);
  });

  test("an address is recognised in its usual form exactly when the whole rule accepts it", () => {
    const pieces = ["a", "Z", "9", ".", "-", "_", "+", "@", "@x.de", "é", "ſ", "K", " ", "x".repeat(64), "\n"];
    let state = 7;
    // Park and Miller's generator: the same texts on every run.
    const random = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit;
    const counts = { yes: 0, no: 0 };
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from({ length: 1 + random(9) }, () => pieces[random(pieces.length)]).join("");
      const isEmail = readEmail(text) !== null;
      if (isEmail !== looksLikeEmail(text)) expect([text, isEmail]).toEqual([text, looksLikeEmail(text)]);
      counts[isEmail ? "yes" : "no"] += 1;
    }
    expect(Math.min(counts.yes, counts.no)).toBeGreaterThan(500);
  });

  test("a person has no form whose rule leaves nothing before the @", () => {
    expect(personOf({ email: "+tag@gmail.com" })).toEqual({ emailSha256: sha256("+tag@gmail.com") });
  });

  test.each(["", "  ", "ab", "jo@", "g".repeat(64)])("%j is neither an address nor a hash", (text) => {
    expect([readEmail(text), readSha256(text), readEmailSha256(text)]).toEqual([null, null, null]);
  });

  test("a plain address is never taken for a hash", () => {
    expect(readSha256("jo@example.com")).toBeNull();
  });

  test("an address and its hash name the same person", () => {
    expect(readEmailSha256(" Person@Example.com")).toBe(hashEmail(email));
    expect(readEmailSha256(hashEmail(email).toUpperCase())).toBe(hashEmail(email));
  });
});

test("plain contact data never shows in text, JSON or the console", () => {
  const contact = { email: new PlainEmail(email), phone: new Plain("030 901820") };
  const shown = [String(contact.email) + String(contact.phone), JSON.stringify(contact), inspect(contact, { showHidden: true })];
  expect(shown.join()).not.toMatch(/person|example|901820/);
  expect(contact.email.domain).toBe("example.com");
});

describe("contact data that comes hashed", () => {
  const hash = sha256("+14155550100");

  test.each([hash, hash.toUpperCase(), ` ${hash} `])("the phone %j is a hash already, of the number with its plus", (phone) => {
    const person = personOf({ email, phone }, { country: "US" });
    expect(person.phoneSha256).toBe(hash);
    // The form without the plus cannot be made from a hash.
    expect(person).not.toHaveProperty("phoneDigitsSha256");
  });

  test("names of 64 hex characters are hashes already, and are not hashed again", () => {
    const person = personOf({ email, firstName: sha256("mary").toUpperCase(), lastName: sha256("smith") });
    expect(person).toMatchObject({ firstNameSha256: sha256("mary"), lastNameSha256: sha256("smith") });
  });

  test.each([hash.slice(1), `${hash}0`, `g${hash.slice(1)}`])("%s is no hash", (text) => {
    expect(personOf({ email, phone: text })).not.toHaveProperty("phoneSha256");
    expect(personOf({ email, firstName: text }).firstNameSha256).toBe(sha256(text.toLowerCase()));
  });
});

describe("a phone number", () => {
  test.each([
    ["650 555 1212", "US", "+16505551212"],
    ["1-650-555-1212", "us", "+16505551212"],
    ["020 7946 0958", "GB", "+442079460958"],
    ["06 698 12345", "IT", "+390669812345"],
    ["16505551212", "US", "+16505551212"],
    ["０９０－１２３４－５６７８", "JP", "+819012345678"],
  ])("the phone number %s without a country code belongs to the site's country %s", (phone, country, number) => {
    expect(phoneOf(phone, country)).toBe(sha256(number));
  });

  test.each([
    ["+49 (0)30 901820", "US", "+4930901820"],
    ["+49 30 901820", undefined, "+4930901820"],
    ["+49 30 901820", "XX", "+4930901820"],
    ["+800 1234 5678", "US", "+80012345678"],
  ])("the phone number %s with a plus ignores the site's country %s", (phone, country, number) => {
    expect(phoneOf(phone, country)).toBe(sha256(number));
  });

  test.each([
    ["0049 30 901820", undefined],
    ["00 49 30 901820", "DE"],
    ["0049 (0)30 901820", "US"],
    ["0049 30 901820", "JP"],
    ["００４９ 30 901820", "JP"],
    ["0049 30 901820", "BR"],
    ["011 49 30 901820", "US"],
  ])("the phone number %s is foreign for a site in %s", (phone, country) => {
    expect(phoneOf(phone, country)).toBe(sha256("+4930901820"));
  });

  test("the longer international prefix of a country is read, and a number that could be read in two ways is left out", () => {
    expect(phoneOf("0011 44 20 7946 0958", "AU")).toBe(sha256("+442079460958"));
    // A number in Berlin, or in North America when 00 stands for the plus.
    expect(phoneOf("0011 49 30 901820", "AU")).toBeUndefined();
  });

  test.each(["+1 650-555-1212 ext. 5", "+1 650-555-1212 x5", "+1 650 555 1212;ext=5", "+16505551212,,5#"])(
    "the phone number %s loses its extension",
    (phone) => {
      expect(phoneOf(phone)).toBe(sha256("+16505551212"));
    },
  );

  test.each([
    ["no country is known", "650 555 1212", undefined],
    ["the site's country does not exist", "650 555 1212", "XX"],
    ["it is too short", "112", "DE"],
    ["it is too long", "+1 650 555 1212 1212", "US"],
    ["it is not a number", "none", "US"],
    ["words follow it", "030 1234 EXAMPLE", "DE"],
    ["it is two numbers", "030 901820 / 0170 1234567", "DE"],
    ["no country has such a code", "+0049 30 901820", "DE"],
    ["it is a placeholder", "0000000000", "US"],
    ["it is a plus", "+", "US"],
    ["it is blank", "  ", "US"],
    ["it is empty", "", "US"],
    ["it is only zeros", "00", "DE"],
    ["it has lone surrogates", "\ud800+16505551212", "US"],
  ])("a phone number is left out when %s", (_, phone, country) => {
    const person = personOf({ email, phone }, { country });
    expect(person).not.toHaveProperty("phoneSha256");
    expect(person).not.toHaveProperty("phoneDigitsSha256");
  });
});

describe("a name", () => {
  test.each([
    ["  Anna Maria ", "annamaria"],
    ["Jean-Luc", "jeanluc"],
    ["O’Neil, Jr.", "oneiljr"],
    ["Vale\u0301ry", "val\u00e9ry"],
    // A sign with a mark, in one and in two characters.
    ["A\u2260B", "ab"],
    ["A=\u0338B", "ab"],
    ["ÅSE", "åse"],
    ["Νίκος", "νίκος"],
    ["ப்ரியா", "ப்ரியா"],
    ["山田\u3000太郎", "山田太郎"],
    ["辻\u{e0100}", "辻"],
    ["Anna ❤️", "anna"],
    ["R2", "r2"],
    ["a\ud800b", "ab"],
  ])("the name %s is hashed as %s", (name, normal) => {
    expect(personOf({ email, firstName: name }).firstNameSha256).toBe(sha256(normal));
  });

  test.each(["", "   ", "-", "...", "❤️", "\u200b", "\ud800", "+"])("a name is left out when nothing remains of %j", (name) => {
    const person = personOf({ email, firstName: name, lastName: name });
    expect(person).not.toHaveProperty("firstNameSha256");
    expect(person).not.toHaveProperty("lastNameSha256");
  });
});

describe("hostile input is hashed quickly and never throws", () => {
  test.each([
    ["letters", "a"],
    ["digits", "0"],
    ["plus signs", "+"],
    ["space", " a"],
    ["lone surrogates", "\ud800"],
    ["combining marks", "\u0301"],
    ["extensions", "1 ext "],
  ])("a person with 100,000 %s in every field is hashed quickly", (_, part) => {
    const text = part.repeat(100_000);
    const cpuMs = cpuMsOf(() => {
      const person = personOf(
        { email: `a${text}@x.com`, phone: `+1${text}`, firstName: text, lastName: text },
        { country: "US" },
      );
      expect(person.emailSha256).toMatch(/^[0-9a-f]{64}$/);
      expect(person.phoneSha256).toBeUndefined();
    });
    expect(cpuMs).toBeLessThan(5000);
  });
});

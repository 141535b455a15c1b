import { describe, expect, test } from "vitest";
import { hashed, sha256, type HashForm } from "./contactChecks.ts";

describe("hashes", () => {
  test.each<[HashForm, string, string]>([
    ["email", "john_smith@gmail.com", "62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f"],
    ["email", "person@example.com", "542d240129883c019e106e3b1b2d3f3cb3537c43c425364de8e951d5a3083345"],
    ["redditEmail", "alice@example.com", "ff8d9819fc0e12bf0d24892e45987e249a28dce836a85cad60e28eaaa8c6d976"],
    ["digitsPhone", "16505551212", "e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176"],
    ["digitsPhone", "448444124653", "dc008fda46e2e64002cf2f82a4906236282d431c4f75e5b60bfe79fc48546383"],
    ["plusPhone", "+11234567890", "1fa6b8d986d9b9cd01bf36951815158bbde9f520c0567c835dfe34783d0a4231"],
    ["name", "mary", "6915771be1c5aa0c886870b6951b03d7eafc121fea0e80a5ea83beb7c449f4ec"],
    ["name", "valéry", "08e1996b5dd49e62a4b4c010d44e4345592a863bb9f8e3976219bac29417149c"],
    ["name", "정", "8fa8cd9c440be61d0151429310034083132b35975c4bea67fdd74158eb51db14"],
    ["name", "raphaël", "e74bb89e718fe1e19c422a48382870399f8bf7ca8dfa008739e75b0be76627b7"],
  ])("the published hash of %s %s is right", (form, plain, published) => {
    expect(sha256(plain)).toBe(published);
    expect(hashed(form)(published, "field")).toEqual([]);
  });

  test.each<[HashForm, string, RegExp]>([
    ["email", "John_smith@gmail.com", /not in lower case/],
    ["email", "person@example.com ", /with a space/],
    ["email", "johnsmith@gmail.com", /only Reddit wants/],
    ["email", sha256("person@example.com"), /hashed twice/],
    ["redditEmail", "john_smith@gmail.com", /punctuation/],
    ["digitsPhone", "+16505551212", /with \+/],
    ["digitsPhone", "0016505551212", /with 00/],
    ["plusPhone", "16505551212", /without \+/],
    ["name", "Mary", /not in lower case/],
    ["name", "raphael", /without its accents/],
    ["code", "CA", /in upper case/],
    ["country", "Germany", /two-letter country code/],
    ["other", "", /hash of nothing/],
  ])("the hash of %s %s is rejected", (form, plain, message) => {
    expect(hashed(form)(sha256(plain), "field")).toMatchObject([
      { path: "field", kind: "hash", message: expect.stringMatching(message) },
    ]);
  });

  test("a plain value never appears in a message", () => {
    const [problem] = hashed("email")("john_smith@gmail.com", "em");
    expect(problem?.message).not.toContain("john");
  });
});

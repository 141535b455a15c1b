// Tests what the relay keeps in a browser: an id, or refusals that are the same for everybody.

import { describe, expect, test } from "vitest";
import { listCookies, newVisitorId, readCookies } from "./cookies.ts";

const nothing = { visitorId: null, refusals: [], proof: null };

describe("reading cookies", () => {
  test("the id and the refusals are found among other cookies", () => {
    const id = newVisitorId();
    const proof = newVisitorId();
    expect(readCookies(`a=b; __cc_v=${id}; __cc_tcf=denied; c=d;__cc_own=denied; __cc_p=${proof}`)).toEqual({
      visitorId: id,
      refusals: ["tcf", "own"],
      proof,
    });
  });

  test.each([
    undefined,
    "",
    "__cc_v=short; __cc_own=granted",
    `x__cc_v=${newVisitorId()}; my__cc_own=denied`,
    `__cc_v=${newVisitorId()}x; __cc_own=denied2; __cc_other=denied`,
  ])("the header %j has neither", (header) => expect(readCookies(header)).toEqual(nothing));
});

describe("setting cookies", () => {
  const denied = { visitorId: null, consent: "denied", suppressed: true, proof: null } as const;
  const granted = {
    visitorId: newVisitorId(),
    consent: "granted",
    suppressed: false,
    refusedBy: [],
    proof: null,
  } as const;

  test("a refusal removes the id and sets a constant, the same for every browser", () => {
    const stored = { ...denied, refusedBy: ["own"] } as const;
    const expected = [
      "__cc_v=; Path=/__cc/; Max-Age=0; HttpOnly; Secure; SameSite=Lax",
      "__cc_own=denied; Path=/; Max-Age=34560000; Secure; SameSite=Lax",
    ];
    expect(listCookies(stored, nothing)).toEqual(expected);
    expect(listCookies(stored, { ...nothing, visitorId: newVisitorId(), refusals: ["own"] })).toEqual(expected);
  });

  test("a browser that refused for an email gets a proof of one length, once", () => {
    const [proof, other] = [newVisitorId(), newVisitorId()];
    const stored = { ...denied, refusedBy: ["own"], proof } as const;
    expect(listCookies(stored, nothing).at(-1)).toBe(
      `__cc_p=${proof}; Path=/__cc/; Max-Age=34560000; HttpOnly; Secure; SameSite=Lax`,
    );
    expect(proof.length).toBe(other.length);
    expect(listCookies(stored, { ...nothing, proof }).join()).not.toContain("__cc_p");
  });

  test("a grant sets an id and removes the refusal", () => {
    expect(listCookies(granted, { ...nothing, refusals: ["gcm"] })).toEqual([
      `__cc_v=${granted.visitorId}; Path=/__cc/; Max-Age=34560000; HttpOnly; Secure; SameSite=Lax`,
      "__cc_gcm=denied; Path=/; Max-Age=0; Secure; SameSite=Lax",
    ]);
  });

  test("a grant by one source keeps the refusal of another", () => {
    const stored = { ...denied, refusedBy: ["tcf"] } as const;
    expect(listCookies(stored, { ...nothing, refusals: ["own", "tcf"] })).toEqual([
      expect.stringContaining("__cc_v=;"),
      expect.stringContaining("__cc_own=denied; Path=/; Max-Age=0"),
      expect.stringContaining("__cc_tcf=denied; Path=/; Max-Age=34560000"),
    ]);
  });

  test.each(["unknown", "unreadable"] as const)(
    "a report that consent (%s) does not allow to be stored sets no cookie and removes none",
    (consent) => {
      const stored = { visitorId: null, consent, suppressed: true, refusedBy: [], proof: null };
      expect(listCookies(stored, { ...nothing, visitorId: newVisitorId() })).toEqual([]);
    },
  );
});

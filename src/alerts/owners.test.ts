import { expect, test } from "vitest";
import type { Member } from "../store/access/members.ts";
import { mailOwners } from "./owners.ts";

const member = (email: string, ...grants: Member["grants"]): Member => ({
  id: email,
  email,
  name: email,
  twoFactor: false,
  confirmed: true,
  invitedBy: null,
  createdAt: 0,
  lastSeenAt: null,
  grants,
});
const members = [
  member("owner@example.com", { site: null, role: "owner" }),
  member("site-owner@example.com", { site: "s1", role: "owner" }),
  member("admin@example.com", { site: null, role: "admin" }),
];
const storeOf = (all: Member[]) => ({ members: { list: async () => all } }) as never;
const mail = {
  title: "the scheduled backup failed",
  text: "The disk is full.",
  whatToDo: "cleancast backup",
};

test("a problem of the installation is mailed to its owners alone, with what to do", async () => {
  const sent: unknown[] = [];
  const mailer = async (...given: unknown[]) => {
    sent.push(given);
    return { ok: true } as const;
  };
  expect(await mailOwners({ store: storeOf(members), mailer }, mail)).toBeNull();
  expect(sent).toEqual([
    [["owner@example.com"], "[Cleancast] the scheduled backup failed", "The disk is full.\n\nWhat to do:\n  cleancast backup\n"],
  ]);
});

test("a mail that could not be sent is returned with its reason, and without owners or a mail server none is sent", async () => {
  const mailer = async () => ({ ok: false, error: "connection refused" }) as const;
  expect(await mailOwners({ store: storeOf(members), mailer }, mail)).toBe("connection refused");
  expect(await mailOwners({ store: storeOf(members.slice(1)), mailer }, mail)).toBeNull();
  expect(await mailOwners({ store: storeOf(members), mailer: null }, mail)).toBeNull();
});

// Mails the owners of the installation about problems that concern all sites. Alerts of one site go to its own addresses.

import type { Store } from "../store/store.ts";
import type { ChannelOptions } from "./channels.ts";

/** Returns the reason why the mail was not sent; null where it was, and where there is no mail server or no owner. */
export async function mailOwners(
  { store, mailer }: { store: Pick<Store, "members">; mailer: ChannelOptions["mailer"] },
  { title, text, whatToDo }: { title: string; text: string; whatToDo: string },
): Promise<string | null> {
  const members = mailer ? await store.members.list() : [];
  const owners = members.filter(({ grants }) => grants.some(({ site, role }) => site === null && role === "owner"));
  if (!mailer || owners.length === 0) return null;
  const body = [text, "", "What to do:", `  ${whatToDo}`, ""].join("\n");
  const sent = await mailer(
    owners.map(({ email }) => email),
    `[Cleancast] ${title}`,
    body,
  );
  return sent.ok ? null : sent.error;
}

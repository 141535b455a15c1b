// Finds the connection that a command is about, and writes what the platform said of it.

import type { Answer } from "../../contract/contract.ts";
import { missing } from "../../kernel/refusal.ts";
import { platformOf } from "../../platforms/index.ts";
import { findConnection } from "../../sites/connect.ts";
import type { CommandContext } from "../context.ts";

export type Connection = Answer<"GET /sites/:site/connections">["items"][number];
export type Params = { site: string; connection: string };

export function paramsOf({ directory }: CommandContext, id: string): Params {
  return { site: findConnection(directory.sites(), id).siteId, connection: id };
}

export async function readConnection({ call }: CommandContext, { site, connection }: Params): Promise<Connection> {
  const { items } = await call("GET /sites/:site/connections", { params: { site } });
  const found = items.find(({ id }) => id === connection);
  if (!found) throw missing("connection", connection);
  return found;
}

export const sendsNothingLines = ({ sendsNothing }: Connection) =>
  sendsNothing ? [`It cannot send anything yet: ${sendsNothing}.`] : [];

/** The next step differs where no call can verify the connection. */
export function verificationText({
  id,
  platform,
  verification: { state, reason, unchecked },
}: Pick<Connection, "id" | "platform" | "verification">) {
  if (state === "verified") {
    const not = unchecked ? ` Not checked: ${unchecked}.` : "";
    return `Verified: ${platformOf(platform)?.name ?? platform} answered for this connection.${not}`;
  }
  return `Saved, not verified: ${reason?.replace(/\.$/, "")}.\nAsk again: cleancast connection verify ${id}`;
}

// Does what people do outside of the shell: they accept invitations, and sign in at platforms in a browser.

import { ask, password } from "../apiClient.ts";
import { commandIn, type Printed } from "../commands.ts";
import { call, type Relay } from "../relay.ts";

/** Accepts the invitation whose link was printed. */
export async function acceptInvitation(printed: string, relay: Relay): Promise<void> {
  const token = /#(\w+)$/m.exec(printed)?.[1];
  if (!token) return;
  const { status, answer } = await ask(relay, "POST /invitations/accept", { token, name: "Ada", password }, {});
  if (status !== 200) throw new Error(`the invitation was refused: ${status} ${answer.text}`);
}

/** Runs `sign-in`, opens the link that it prints, and agrees at the platform; the command then ends by itself. */
export function signIn(command: Parameters<typeof commandIn>[0], relay: Relay): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const onError = (text: string) => {
      const link = /^ {2}(http\S+)$/m.exec(text)?.[1];
      if (link !== undefined) open(link, relay).catch(reject);
    };
    commandIn({ ...command, onError }).then(resolve, reject);
  });
}

async function open(link: string, { url: relayUrl }: Relay): Promise<void> {
  const get = (url: string, headers: Record<string, string> = {}) =>
    call(relayUrl, { method: "GET", path: url.replace(/^https?:\/\/[^/]+/, ""), headers });
  const started = await get(link);
  const cookie = started.headers["set-cookie"]?.[0]?.split(";", 1)[0] ?? "";
  const { status, text } = await get(await agree(started.headers.location ?? ""), { Cookie: cookie });
  if (status !== 200) throw new Error(`the sign-in was refused: ${status} ${text}`);
}

/** Presses "allow" on the authorization page of a stand-in, and returns the redirect. */
async function agree(authorizeUrl: string): Promise<string> {
  const { origin, pathname, searchParams } = new URL(authorizeUrl);
  const body = new URLSearchParams([...searchParams, ["decision", "allow"]]);
  const answer = await fetch(`${origin}${pathname}`, { method: "POST", body, redirect: "manual" });
  const location = answer.headers.get("location");
  if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
  return location;
}

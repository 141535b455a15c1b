// Calls the management API of a test relay as people and programs do.

import { expect } from "vitest";
import { basePath } from "../../src/contract/contract.ts";
import { call, type Answer, type Relay } from "./relay.ts";

export const password = "a long enough password";

export type Person = {
  email: string;
  cookie: string;
  /** Sends a request as the dashboard does, and returns status and parsed body. */
  ask(route: string, body?: unknown, headers?: Record<string, string>): Promise<ApiAnswer>;
};
// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the route and is asserted by tests
export type ApiAnswer = { status: number; json: any; answer: Answer };

/** One request: `GET /sites/abc/events?limit=5`. A text is sent as a file, anything else as JSON. */
export async function ask(
  relay: Pick<Relay, "url">,
  route: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<ApiAnswer> {
  const isFile = typeof body === "string";
  const [method, path] = route.split(" ") as [string, string];
  const answer = await call(relay.url, {
    method,
    path: `${basePath}${path}`,
    headers: {
      ...(body === undefined ? {} : { "Content-Type": isFile ? "text/csv" : "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isFile ? body : JSON.stringify(body) }),
  });
  let json: unknown = null;
  try {
    json = JSON.parse(answer.text);
  } catch {
    // The answer is a table or a stream.
  }
  return { status: answer.status, json, answer };
}

const cookieOf = ({ headers }: Answer) => (headers["set-cookie"] ?? []).map((one) => one.split(";", 1)[0]).join("; ");

function personOf(relay: Pick<Relay, "url">, email: string, cookie: string): Person {
  return {
    email,
    cookie,
    ask: (route, body, headers) => ask(relay, route, body, { Cookie: cookie, ...headers }),
  };
}

/** Opens the set-up link of a fresh relay. */
export async function becomeOwner(relay: Relay, email = "owner@example.com"): Promise<Person> {
  const token = /\/dashboard\/setup#(\w+)/.exec(relay.output())?.[1];
  const created = await ask(relay, "POST /setup", { token, email, name: "Olga Owner", password }, {});
  expect(created.status, created.answer.text).toBe(200);
  return personOf(relay, email, cookieOf(created.answer));
}

export async function signIn(relay: Pick<Relay, "url">, email: string): Promise<Person> {
  const signedIn = await ask(relay, "POST /session", { email, password }, {});
  expect(signedIn.status, signedIn.answer.text).toBe(200);
  return personOf(relay, email, cookieOf(signedIn.answer));
}

/** Invites a person, who accepts. */
export async function invite(
  relay: Pick<Relay, "url">,
  owner: Person,
  email: string,
  role: "viewer" | "admin" | "owner",
  site: string | null,
): Promise<Person> {
  const invited = await owner.ask("POST /members/invitations", { email, role, site });
  expect(invited.status, invited.answer.text).toBe(200);
  const token = /#(\w+)$/.exec(String(invited.json.link))?.[1];
  const accepted = await ask(relay, "POST /invitations/accept", { token, name: email, password }, {});
  expect(accepted.status, accepted.answer.text).toBe(200);
  return personOf(relay, email, cookieOf(accepted.answer));
}

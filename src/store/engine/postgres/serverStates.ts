// What each of the servers in DATABASE_URL is at this moment, for people.

import { sqlState } from "./errors.ts";
import { probe, textOf } from "./probe.ts";
import { namesOf, serversOf } from "./servers.ts";

export type ServerState = {
  /** Name and port. */
  name: string;
  state: "written" | "read" | "out";
  /** Counts the promotions; of those that are written to, the highest is used. */
  timeline: number;
  /** Why it is out. */
  reason: string;
};

export function serverStates(url: string): Promise<ServerState[]> {
  return Promise.all(serversOf(url).map(stateOf));
}

async function stateOf(server: string): Promise<ServerState> {
  const name = namesOf([server]);
  try {
    const { timeline } = await probe(server);
    return { name, state: "written", timeline, reason: "" };
  } catch (error) {
    const isRead = sqlState(error) === "25006";
    return { name, state: isRead ? "read" : "out", timeline: 0, reason: isRead ? "" : textOf(error) };
  }
}

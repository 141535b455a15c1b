// Shows connections: what the platform said of each, and everything about it that is not secret.

import { readProofState, whySendsNothing } from "../../delivery/prove.ts";
import { platformOf } from "../../platforms/index.ts";
import { findConnection } from "../../sites/connect.ts";
import { describeConnection } from "../../sites/connectionSettings.ts";
import type { Connection } from "../../sites/directory.ts";
import { cannotBeRead } from "../../store/sites/configuration.ts";
import type { Store } from "../../store/store.ts";
import { findSites, table, timeText, type CliCommand } from "../context.ts";

export function connectionResultCommands(connection: CliCommand): void {
  connection
    .command("list [site]")
    .description("list the connections of a site, or of all sites")
    .run(async ({ directory, store, print }, siteText: string | undefined) => {
      const found = findSites(directory, siteText).flatMap((site) => site.connections);
      const connections = await Promise.all(found.map((one) => describeWithProof(store, one)));
      const rows = connections.map((one) => [
        one.id,
        one.site,
        one.platform,
        one.stateReason === cannotBeRead ? `${one.state}: ${cannotBeRead}` : one.state,
        one.proof.state === "proven" ? timeText(one.proof.provenAt) : "no",
        one.events?.join(",") ?? "all",
        timeText(one.createdAt),
      ]);
      const head = ["ID", "SITE", "PLATFORM", "STATE", "PROVEN (UTC)", "EVENTS", "CREATED (UTC)"];
      print({ connections }, table(head, rows, "No connections yet. Create one: cleancast connect SITE webhook url=https://…"));
    });

  connection
    .command("show <id>")
    .description("show a connection: its state, events, settings and field mapping")
    .run(async ({ directory, store, by, print }, id: string) => {
      const found = findConnection(directory.sites(), id);
      const sendsNothing = found.unreadable ? null : whySendsNothing(found, by.now);
      const shown = { ...(await describeWithProof(store, found)), sendsNothing };
      const host = directory.site(found.siteId)?.hosts[0] ?? found.siteId;
      print({ connection: shown }, describedText(shown, host));
    });
}

async function describeWithProof(store: Store, connection: Connection) {
  const { siteId, id } = connection;
  const lastSentAt = await store.health.lastSentAt(siteId, id);
  return {
    site: siteId,
    ...describeConnection(connection),
    lastSentAt,
    proof: await readProofState(store, connection, lastSentAt),
  };
}

type Described = Awaited<ReturnType<typeof describeWithProof>> & { sendsNothing: string | null };

function describedText(shown: Described, host: string): string {
  const { id, platform, state, stateReason, events, settings, createdAt, lastSentAt, proof } = shown;
  const proven = proof.state === "proven" ? `yes, ${timeText(proof.provenAt)} UTC` : `no: ${proof.reason}`;
  return [
    `Connection ${id} of ${host} to ${platformOf(platform)?.name ?? platform}, created ${timeText(createdAt)} UTC`,
    "",
    `State      ${state}${stateReason === null ? "" : `: ${stateReason}`}`,
    `Proven     ${proven}`,
    `Last sent  ${timeText(lastSentAt)}`,
    `Events     ${events?.join(", ") ?? "all"}`,
    ...(shown.sendsNothing ? [`It cannot send anything yet: ${shown.sendsNothing}.`] : []),
    "",
    "Settings",
    ...Object.entries(settings).map(([name, value]) => `  ${name}=${value}`),
  ].join("\n");
}

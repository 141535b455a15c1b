// The site and the reconciliation that a command is about.

import { Missing } from "../../kernel/refusal.ts";
import { findRun } from "../../reconcile/manage.ts";
import type { Site } from "../../sites/directory.ts";
import type { Run } from "../../store/reconciliation/runs.ts";
import type { CliCommand, CommandContext } from "../context.ts";

export type OfSite = { site?: string };

export const ofSite = (command: CliCommand) => command.option("--site <site>", "the site's id or one of its hosts");

export async function findRunOrLast({ store }: CommandContext, site: Site, id: string | undefined): Promise<Run> {
  if (id !== undefined) return findRun(store, site.id, id);
  const [last] = await store.reconciliations.list(site.id);
  if (!last) throw new Missing("run", "The site has no reconciliations yet. Start one: cleancast reconcile start");
  return last;
}

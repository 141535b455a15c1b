// The site and the reconciliation that a command is about.

import type { Answer } from "../../contract/contract.ts";
import { Missing } from "../../kernel/refusal.ts";
import type { Site } from "../../sites/directory.ts";
import { findSiteOrOnly, type CommandContext } from "../context.ts";

export type Run = Answer<"POST /sites/:site/reconciliations">["reconciliation"];
export type Report = Answer<"GET /sites/:site/reconciliations/:run">["reconciliation"];

type Found = { site: Site; params: { site: string; run: string } };

/** Finds the named reconciliation; without an id, the last one of the site. */
export async function findRun(
  { directory, call }: CommandContext,
  siteText: string | undefined,
  given: string | undefined,
): Promise<Found> {
  const site = findSiteOrOnly(directory, siteText);
  if (given !== undefined) return { site, params: { site: site.id, run: given } };
  const [last] = (await call("GET /sites/:site/reconciliations", { params: { site: site.id } })).items;
  if (!last) throw new Missing("run", "The site has no reconciliations yet. Start one: cleancast reconcile start");
  return { site, params: { site: site.id, run: last.id } };
}

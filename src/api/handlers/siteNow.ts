import type { Directory, Site } from "../../sites/directory.ts";
import { notFound } from "../call.ts";

/** The site as it is stored: what is about to be changed may have been changed elsewhere a moment ago. */
export async function siteNow(directory: Directory, { id }: Site): Promise<Site> {
  await directory.refresh();
  const site = directory.site(id);
  if (!site) throw notFound("site");
  return site;
}

// How far a new site is. Each step says what was found, or what is still to do.

import { hourMs } from "../../kernel/time.ts";
import type { Answer } from "../../contract/contract.ts";
import { isUsable, type Site } from "../../sites/directory.ts";
import { namesNoSite, stateOf } from "../../sites/hosts.ts";
import type { Store } from "../../store/store.ts";

type Step = Answer<"GET /sites/:site/checklist">["steps"][number];

const recentHours = 30 * 24;

export async function checklistOf(store: Pick<Store, "health">, site: Site, now: number): Promise<Step[]> {
  const [visitHour, eventAt] = await Promise.all([
    store.health.lastVisitHour(site.id),
    store.health.lastEventAt(site.id),
  ]);
  const wasSeen = visitHour !== null && visitHour > Math.floor(now / hourMs) - recentHours;
  return [
    domainStep(site),
    { step: "tag", done: wasSeen, detail: wasSeen ? null : "No page with the tag was seen in 30 days." },
    keyStep(site, now),
    platformStep(site),
    {
      step: "conversion",
      done: eventAt !== null,
      detail: eventAt === null ? "No event has come in yet." : null,
    },
  ];
}

function domainStep({ hostRows, servedHosts }: Site): Step {
  const own = servedHosts.filter((host) => !namesNoSite(host));
  if (own.length > 0) return { step: "domain", done: true, detail: own.join(", ") };
  const idle = hostRows.filter(({ host }) => !namesNoSite(host));
  return idle.length > 0
    ? { step: "domain", done: false, detail: idle.map((one) => `${one.host}: ${stateOf(one)}`).join(", ") }
    : { step: "domain", done: true, detail: "Only localhost so far: add your domain before you go live." };
}

function keyStep({ keys }: Site, now: number): Step {
  const usable = keys.filter((key) => isUsable(key, now));
  if (usable.length > 0)
    return { step: "key", done: true, detail: usable.map(({ name }) => name).join(", ") };
  return {
    step: "key",
    done: false,
    detail: keys.length > 0 ? "Every key has expired or is revoked." : "There is no inbound key yet.",
  };
}

function platformStep({ connections }: Site): Step {
  const real = connections.filter(({ platform }) => platform !== "sandbox");
  if (real.length > 0) return { step: "platform", done: true, detail: null };
  return {
    step: "platform",
    done: false,
    detail: connections.length > 0 ? "Only the sandbox is connected." : "No platform is connected yet.",
  };
}

// What ⌘K can do: verbs with their arguments. What changes something says so, and can be undone.

import { useMantineColorScheme } from "@mantine/core";
import { CalendarRange, CircleHelp, Moon, MonitorCog, Pause, Play, Plus, RotateCw, Send, Sun } from "lucide-react";
import { call } from "../../common/api/api.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { queryClient, useApi } from "../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../common/api/session.ts";
import { notify } from "../../common/notices.tsx";
import { periodNames } from "../overview/periods.ts";
import { commonText } from "../../messages/common.ts";
import { frameText } from "../../messages/frame.ts";
import { guardText } from "../../messages/guard.ts";
import { overviewText } from "../../messages/overview.ts";
import { commands } from "./jumpCommands.ts";
import type { Target } from "./jumpTargets.tsx";

type Connection = { id: string; platform: string };

/** Changes a connection, and offers to change it back. */
async function turn(site: string, { id, platform }: Connection, name: string, verb: "pause" | "resume"): Promise<void> {
  const params = { site, connection: id };
  try {
    if (verb === "pause") await call("POST /sites/:site/connections/:connection/pause", { params });
    else await call("POST /sites/:site/connections/:connection/resume", { params });
    notify(guardText.jump.done[verb](name), () => void turn(site, { id, platform }, name, verb === "pause" ? "resume" : "pause"));
  } catch (error) {
    notify(error instanceof Error ? error.message : commonText.failedRequest(0));
  }
  await queryClient.invalidateQueries();
}

export function useActions(text: string): Target[] {
  return [...useSiteActions(), ...useConnectionActions(), ...useWhy(text), ...usePeriods(), ...useThemes()];
}

function useSiteActions(): Target[] {
  const site = useSiteId();
  const host = useSite()?.hosts[0] ?? "";
  const mayChange = useMay("admin", site || null);
  if (!site || !mayChange) return [];
  return [
    {
      id: "first-conversion-action",
      group: "actions",
      label: guardText.jump.sendOne,
      icon: Send,
      to: `/sites/${site}/first-conversion`,
    },
    {
      id: "create-key",
      group: "actions",
      label: guardText.jump.createKey,
      icon: Plus,
      to: `/sites/${site}/configuration/keys`,
      hash: "create",
      command: commands.createKey(host),
    },
    {
      id: "replay",
      group: "actions",
      label: guardText.jump.replay,
      icon: RotateCw,
      to: `/sites/${site}/integrations/log`,
      search: { state: "rejected" },
      hash: "replay",
      command: commands.replay(host),
    },
  ];
}

function useConnectionActions(): Target[] {
  const site = useSiteId();
  const host = useSite()?.hosts[0] ?? "";
  const mayChange = useMay("admin", site || null);
  const nameOf = usePlatformName();
  const connections = useApi("GET /sites/:site/connections", { params: { site } }, { enabled: site !== "" });
  if (!site || !mayChange) return [];
  return (connections.data?.items ?? []).flatMap((connection): Target[] => {
    const { id, platform, state } = connection;
    const name = nameOf(platform);
    const mark = { id: platform, name };
    const verb = state === "paused" ? "resume" : "pause";
    const replay: Target = {
      id: `replay ${id}`,
      group: "actions",
      isOneOfMany: true,
      label: guardText.jump.replayOf(name),
      platform: mark,
      icon: RotateCw,
      to: `/sites/${site}/integrations/log`,
      search: { state: "rejected", connection: id },
      hash: "replay",
      command: commands.replayOf(host, id),
    };
    if (state === "needs reconnection") return [replay];
    return [
      {
        id: `${verb} ${id}`,
        group: "actions",
        isOneOfMany: true,
        label: verb === "pause" ? guardText.jump.pause(name) : guardText.jump.resume(name),
        platform: mark,
        icon: verb === "pause" ? Pause : Play,
        run: () => void turn(site, connection, name, verb),
        command: commands.turn(verb, id),
      },
      replay,
    ];
  });
}

/** "why A-1001" shows the answer at the top of the order's trace. */
function useWhy(text: string): Target[] {
  const site = useSiteId();
  const host = useSite()?.hosts[0] ?? "";
  const order = /^(?:why|warum)\s+(.{2,})$/i.exec(text.trim())?.[1];
  if (!site || order === undefined) return [];
  return [
    {
      id: `why ${order}`,
      group: "actions",
      label: guardText.jump.why(order),
      icon: CircleHelp,
      to: `/sites/${site}/events`,
      search: { search: order },
      command: commands.why(order, host),
      isFound: true,
    },
  ];
}

function usePeriods(): Target[] {
  const site = useSiteId();
  if (!site) return [];
  return periodNames.map((name) => ({
    id: `period ${name}`,
    group: "actions",
    isOneOfMany: true,
    label: guardText.jump.compare(overviewText.periods[name]),
    icon: CalendarRange,
    to: `/sites/${site}/overview`,
    search: { range: name },
  }));
}

function useThemes(): Target[] {
  const { setColorScheme } = useMantineColorScheme();
  const schemes = [
    ["light", Sun, frameText.menu.light],
    ["dark", Moon, frameText.menu.dark],
    ["auto", MonitorCog, frameText.menu.system],
  ] as const;
  return schemes.map(([scheme, icon, name]) => ({
    id: `theme ${scheme}`,
    group: "actions",
    isOneOfMany: true,
    label: guardText.jump.theme(name),
    icon,
    run: () => setColorScheme(scheme),
  }));
}

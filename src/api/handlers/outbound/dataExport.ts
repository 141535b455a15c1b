// Serves the scheduled export of data.

import type { Answer } from "../../../contract/contract.ts";
import type { dataExportRoutes } from "../../../contract/webhooks/dataExport.ts";
import { exportSoon, placeText, removeDataExport, setDataExport } from "../../../export/manage.ts";
import { exportQuery } from "../../../export/query.ts";
import type { DataExport } from "../../../store/export/dataExports.ts";
import type { Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";

type Described = Answer<"PUT /sites/:site/data-export">["export"];

export function dataExportHandlers(context: ApiContext): Handlers<keyof typeof dataExportRoutes> {
  const { store, allowPrivate, exportFolder, now } = context;
  const describe = (one: DataExport) => describeExport(one, exportFolder, now());
  return {
    async "GET /sites/:site/data-export"({ site }) {
      const found = await store.dataExports.find(site.id);
      return { export: found && describe(found), hasFolder: exportFolder !== null };
    },

    async "PUT /sites/:site/data-export"({ site, body, by }) {
      return { export: describe(await setDataExport(store, site, body, { ...by, allowPrivate, exportFolder })) };
    },

    async "DELETE /sites/:site/data-export"({ site, by }) {
      await removeDataExport(store, site.id, by);
      return {};
    },

    async "POST /sites/:site/data-export/retry"({ site }) {
      await exportSoon(store, site.id);
      return {};
    },
  };
}

function describeExport(one: DataExport, exportFolder: string | null, now: number): Described {
  const { siteId, target, options, fromHour, nextHour, dueAt, error, failingSince, runs } = one;
  const { endpoint, region, keyId } = target?.kind === "bucket" ? target : { endpoint: null, region: null, keyId: null };
  return {
    to: target ? placeText(target) : "",
    endpoint,
    region,
    keyId,
    ...options,
    from: fromHour,
    nextHour,
    nextAt: dueAt <= now ? null : dueAt,
    error,
    failingSince,
    runs,
    query: exportQuery({ siteId, target, exportFolder, format: options.format }),
  };
}

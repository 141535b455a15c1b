// The sync log: every delivery to every platform, newest first.

import { Outlet } from "@tanstack/react-router";
import { Page } from "../../../common/Page.tsx";
import { useSiteId } from "../../../common/api/session.ts";
import { LogTable } from "./LogTable.tsx";
import { tabsOf } from "../connections.tsx";

export default function SyncLog() {
  const site = useSiteId();
  return (
    <Page
      title="Integrations"
      about="One line per conversion and platform. Open one to see all attempts."
      tabs={tabsOf(site)}
      tab="log"
    >
      <LogTable site={site} />
      <Outlet />
    </Page>
  );
}

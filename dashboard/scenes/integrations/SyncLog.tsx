// The sync log: every delivery to every platform, newest first.

import { Outlet } from "@tanstack/react-router";
import { Page } from "../../common/Page.tsx";
import { useSiteId } from "../../common/session.tsx";
import { LogTable } from "./LogTable.tsx";
import { tabsOf } from "./parts.tsx";

export default function SyncLog() {
  const site = useSiteId();
  return (
    <Page
      title="Integrations"
      about="One line for each conversion and platform. Open one to see every attempt."
      tabs={tabsOf(site)}
      tab="log"
    >
      <LogTable site={site} />
      <Outlet />
    </Page>
  );
}

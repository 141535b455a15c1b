// The sync log: every delivery to every platform, newest first.

import { Outlet } from "@tanstack/react-router";
import { Page } from "../../../common/Page.tsx";
import { useSiteId } from "../../../common/api/session.ts";
import { LogTable } from "./LogTable.tsx";
import { tabsOf } from "../connections.tsx";
import { integrationsText } from "../../../messages/integrations.ts";

export default function SyncLog() {
  const site = useSiteId();
  return (
    <Page title={integrationsText.title} about={integrationsText.log.about} tabs={tabsOf(site)} tab="log">
      <LogTable site={site} />
      <Outlet />
    </Page>
  );
}

import type { ReactNode } from "react";
import { Page } from "../../common/Page.tsx";
import { useSiteId } from "../../common/session.tsx";

const tabs = [
  ["api-keys", "API Keys"],
  ["members", "Members"],
  ["alerts", "Alerts"],
  ["oauth-apps", "OAuth apps"],
  ["audit", "Audit log"],
] as const;

export function SettingsPage({ tab, children }: { tab: (typeof tabs)[number][0]; children: ReactNode }) {
  const site = useSiteId();
  return (
    <Page
      title="Settings"
      tab={tab}
      tabs={tabs.map(([value, label]) => ({ value, label, to: `/sites/${site}/settings/${value}` }))}
    >
      {children}
    </Page>
  );
}

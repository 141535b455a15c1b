import type { ReactNode } from "react";
import { Page } from "../../common/Page.tsx";
import { useSiteId } from "../../common/session.tsx";

const tabs = [
  ["keys", "Inbound keys"],
  ["tag", "Tag"],
  ["domains", "Domains"],
  ["traffic", "Traffic filters"],
  ["consent", "Consent & privacy"],
  ["deduplication", "Deduplication"],
] as const;

export function ConfigurationPage({ tab, children }: { tab: (typeof tabs)[number][0]; children: ReactNode }) {
  const site = useSiteId();
  return (
    <Page
      title="Configuration"
      tab={tab}
      tabs={tabs.map(([value, label]) => ({ value, label, to: `/sites/${site}/configuration/${value}` }))}
    >
      {children}
    </Page>
  );
}

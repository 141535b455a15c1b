import type { ReactNode } from "react";
import { Page } from "../../common/Page.tsx";
import { useSiteId } from "../../common/api/session.ts";
import { sitePages } from "../../pages.ts";

type Props = { tab: string; children: ReactNode };

export const ConfigurationPage = (props: Props) => <SectionPage title="Configuration" {...props} />;
export const SettingsPage = (props: Props) => <SectionPage title="Settings" {...props} />;

/** A section whose pages are tabs. */
function SectionPage({ title, tab, children }: Props & { title: string }) {
  const site = useSiteId();
  const prefix = `${title.toLowerCase()}/`;
  const tabs = sitePages
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path, label }) => ({ value: path.slice(prefix.length), label, to: `/sites/${site}/${path}` }));
  return (
    <Page title={title} tab={tab} tabs={tabs}>
      {children}
    </Page>
  );
}

import type { ReactNode } from "react";
import { Page } from "../../common/Page.tsx";
import { useSiteId } from "../../common/api/session.ts";
import { sitePages } from "../../pages.ts";
import { frameText } from "../../messages/frame.ts";

type Props = { tab: string; children: ReactNode };

export const ConfigurationPage = (props: Props) => <SectionPage section="configuration" {...props} />;
export const BotsPage = (props: Props) => <SectionPage section="bots" {...props} />;
export const SettingsPage = (props: Props) => <SectionPage section="settings" {...props} />;

/** A section whose pages are tabs. */
function SectionPage({ section, tab, children }: Props & { section: "bots" | "configuration" | "settings" }) {
  const site = useSiteId();
  const prefix = `${section}/`;
  const tabs = sitePages
    .filter(({ path }) => path.startsWith(prefix))
    .map(({ path }) => ({
      value: path.slice(prefix.length),
      label: frameText.pages[path],
      to: `/sites/${site}/${path}`,
    }));
  return (
    <Page title={frameText.sections[section]} tab={tab} tabs={tabs}>
      {children}
    </Page>
  );
}

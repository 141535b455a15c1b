// Who changed what, newest first.

import { SegmentedControl, Text } from "@mantine/core";
import { ScrollText } from "lucide-react";
import { useAddress } from "../../common/address.ts";
import type { Answer } from "../../common/api.ts";
import { Card } from "../../common/Page.tsx";
import { useRows } from "../../common/query.ts";
import { Rows, type Column } from "../../common/Rows.tsx";
import { useMay, useSiteId } from "../../common/session.tsx";
import { Empty } from "../../common/states.tsx";
import { When } from "../../common/values.tsx";
import { actorName, useDetailText } from "./auditWords.ts";
import { SettingsPage } from "./SettingsPage.tsx";

type Line = Answer<"GET /audit">["items"][number];

export default function Audit() {
  const site = useSiteId();
  const isOwner = useMay("owner", null);
  const address = useAddress();
  const isInstallation = isOwner && address.text("of") === "installation";
  const ofSite = useRows("GET /sites/:site/audit", { params: { site } }, { enabled: !isInstallation });
  const ofAll = useRows("GET /audit", {}, { enabled: isInstallation });
  const { rows, error, more, isLoadingMore, again } = isInstallation ? ofAll : ofSite;
  const detailText = useDetailText();
  const columns: Column<Line>[] = [
    { title: "When", cell: ({ at }) => <When at={at} /> },
    { title: "Who", cell: ({ actor }) => actorName(actor), wide: true },
    {
      title: "What",
      cell: ({ action, actor }) => (
        <>
          <Text size="sm" fw={500}>
            {action.slice(0, 1).toUpperCase() + action.slice(1)}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm" style={{ overflowWrap: "anywhere" }}>
            {actorName(actor)}
          </Text>
        </>
      ),
    },
    {
      title: "Details",
      cell: ({ detail }) => (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {detailText(detail) || "–"}
        </Text>
      ),
    },
  ];
  return (
    <SettingsPage tab="audit">
      <Card
        title="Audit log"
        about={
          isInstallation
            ? "Changes of the installation: members, passwords, API keys for all sites, OAuth apps."
            : "Every change of this site, and every look at a person's data."
        }
        padded={false}
        actions={
          isOwner && (
            <SegmentedControl
              size="xs"
              aria-label="Whose changes"
              value={isInstallation ? "installation" : "site"}
              onChange={(of) => address.change({ of: of === "site" ? "" : of })}
              data={[
                { value: "site", label: "This site" },
                { value: "installation", label: "Installation" },
              ]}
            />
          )
        }
      >
        <Rows
          label="Audit log"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          error={error}
          again={again}
          more={more}
          isLoadingMore={isLoadingMore}
          empty={
            <Empty icon={ScrollText} title="No change yet">
              Who changes a setting, a key, a connection or a member leaves a line here.
            </Empty>
          }
        />
      </Card>
    </SettingsPage>
  );
}

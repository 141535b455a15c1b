// The audit log, newest first.

import { Group, SegmentedControl, Text, VisuallyHidden } from "@mantine/core";
import { ScrollText } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import { urlOf, type Answer } from "../../common/api/api.ts";
import { useRows } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { CsvButton } from "../../common/lists/CsvButton.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { useQueryParams } from "../../common/lists/queryParams.ts";
import { PlatformName } from "../../common/platforms/PlatformMark.tsx";
import { Empty } from "../../common/states.tsx";
import { Id, Time } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { actionName, actorName, useDetails, type Detail } from "./auditDetails.ts";
import { settingsText } from "../../messages/settings.ts";

type Line = Answer<"GET /audit">["items"][number];

export default function Audit() {
  const site = useSiteId();
  const isOwner = useMay("owner", null);
  const { text, change } = useQueryParams();
  const isInstallation = isOwner && text("of") === "installation";
  const ofSite = useRows("GET /sites/:site/audit", { params: { site } }, { enabled: !isInstallation });
  const ofAll = useRows("GET /audit", {}, { enabled: isInstallation });
  const { listed } = isInstallation ? ofAll : ofSite;
  const detailsOf = useDetails();
  const columns: Column<Line>[] = [
    { title: settingsText.audit.columns.when, cell: ({ at }) => <Time at={at} />, wide: true },
    { title: settingsText.audit.columns.who, cell: ({ actor }) => actorName(actor), wide: true },
    {
      title: settingsText.audit.columns.what,
      cell: ({ action, actor, at }) => (
        <>
          <Text size="sm" fw={500}>
            {actionName(action)}
          </Text>
          <Text size="xs" c="dimmed" hiddenFrom="sm" className="cc-name" component="div" miw={116}>
            {actorName(actor)}
            <br />
            <Time at={at} />
          </Text>
        </>
      ),
    },
    {
      title: settingsText.audit.columns.details,
      cell: ({ detail }) => <Details of={detailsOf(detail)} />,
    },
  ];
  return (
    <SettingsPage tab="audit">
      <Card
        title={settingsText.audit.title}
        about={isInstallation ? settingsText.audit.aboutInstallation : settingsText.audit.aboutSite}
        padded={false}
        actions={
          <>
            {isOwner && (
              <SegmentedControl
                size="xs"
                aria-label={settingsText.audit.of}
                value={isInstallation ? "installation" : "site"}
                onChange={(of) => change({ of: of === "site" ? "" : of })}
                data={[
                  { value: "site", label: settingsText.audit.site },
                  { value: "installation", label: settingsText.audit.installation },
                ]}
              />
            )}
            <CsvButton
              href={isInstallation ? urlOf("GET /audit.csv", {}) : urlOf("GET /sites/:site/audit.csv", { params: { site } })}
              of={settingsText.audit.theLog}
            />
          </>
        }
      >
        <Rows
          label={settingsText.audit.title}
          columns={columns}
          {...listed}
          keyOf={({ id }) => id}
          empty={
            <Empty icon={ScrollText} title={settingsText.audit.emptyTitle}>
              {settingsText.audit.empty}
            </Empty>
          }
        />
      </Card>
    </SettingsPage>
  );
}

function Details({ of }: { of: readonly Detail[] }) {
  if (of.length === 0) return "–";
  return (
    <Group gap="0rem 1rem">
      {of.map(({ name, text, before, isId, platform }) => (
        <Text key={name || text} size="sm" component="span" style={{ overflowWrap: "anywhere" }}>
          {name && (
            <Text span inherit c="dimmed">
              {name}:{" "}
            </Text>
          )}
          {before !== null && before !== undefined && before !== text && (
            <>
              <Text span inherit td="line-through" c="dimmed">
                {before}
              </Text>
              <span aria-hidden> → </span>
              <VisuallyHidden>{settingsText.audit.changedTo}</VisuallyHidden>
            </>
          )}
          {isId ? <Id value={text} label={settingsText.audit.copy(name)} /> : platform ? <PlatformName id={platform} /> : text}
        </Text>
      ))}
    </Group>
  );
}

// The links through which people without an account read this site, and the weekly report.

import { Badge, Group, Stack, Switch, Text } from "@mantine/core";
import { Share2 } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { RichText } from "../../common/format/RichText.tsx";
import { DocsLink } from "../../common/links.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { Empty } from "../../common/states.tsx";
import { State, Time } from "../../common/values.tsx";
import { settingsText } from "../../messages/settings.ts";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { actorName } from "../settings/auditDetails.ts";
import { NewLink, ShareButton } from "./ShareButton.tsx";
import { WeeklyReport } from "./WeeklyReport.tsx";

type Link = Answer<"GET /sites/:site/shared-links">["items"][number];

const stateOf = ({ revokedAt, expiresAt }: Link) =>
  revokedAt !== null ? "revoked" : expiresAt <= Date.now() ? "expiredKey" : "active";

export default function SharedLinks() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const links = useApi("GET /sites/:site/shared-links", { params: { site } });
  const [showAll, setShowAll] = useState(false);
  const [created, setCreated] = useState<string | null>(null);
  const all = links.data?.items;
  const active = all?.filter((link) => stateOf(link) === "active");
  const create = mayChange && <ShareButton site={site} label={settingsText.sharing.create} onCreated={setCreated} />;
  return (
    <SettingsPage tab="sharing">
      <Card
        title={settingsText.sharing.title}
        about={
          <RichText
            text={settingsText.sharing.about}
            tags={{ link: (text) => <DocsLink page="how-to/share">{text}</DocsLink> }}
          />
        }
        actions={all?.length ? create : undefined}
        padded={false}
      >
        <Rows
          label={settingsText.sharing.title}
          columns={columns(site, mayChange)}
          rows={showAll ? all : active}
          keyOf={({ id }) => id}
          error={links.error}
          onRetry={() => void links.refetch()}
          empty={
            <Empty icon={Share2} title={settingsText.sharing.emptyTitle} action={create || undefined}>
              {settingsText.sharing.empty}
            </Empty>
          }
        />
        {active !== undefined && active.length < (all?.length ?? 0) && (
          <Switch
            m="md"
            size="sm"
            label={settingsText.sharing.showAll}
            checked={showAll}
            onChange={(event) => setShowAll(event.currentTarget.checked)}
          />
        )}
      </Card>
      <NewLink url={created} onClose={() => setCreated(null)} />
      <WeeklyReport site={site} mayChange={mayChange} />
    </SettingsPage>
  );
}

function columns(site: string, mayChange: boolean): Column<Link>[] {
  const texts = settingsText.sharing.columns;
  return [
    {
      title: texts.name,
      cell: (link) => (
        <Stack gap={0} className="cc-name" miw={100}>
          <Group gap="xs">
            <Text size="sm" fw={500}>
              {link.name}
            </Text>
            {link.hasPassword && (
              <Badge variant="default" size="sm">
                {settingsText.sharing.withPassword}
              </Badge>
            )}
          </Group>
          <span className="cc-quiet">{settingsText.sharing.scopes[link.scope]}</span>
        </Stack>
      ),
    },
    { title: texts.state, cell: (link) => <State of={stateOf(link)} />, wide: true },
    {
      title: texts.opened,
      cell: ({ openedAt }) => (openedAt === null ? settingsText.sharing.never : <Time at={openedAt} />),
      wide: true,
    },
    { title: texts.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
    { title: texts.createdBy, cell: ({ createdBy }) => actorName(createdBy), wide: true },
    ...(mayChange
      ? [
          {
            title: texts.actions,
            align: "right" as const,
            cell: (link: Link) => stateOf(link) === "active" && <Revoke site={site} link={link} />,
          },
        ]
      : []),
  ];
}

function Revoke({ site, link }: { site: string; link: Link }) {
  const revoke = useSend("DELETE /sites/:site/shared-links/:link", {
    onDone: () => notify(settingsText.sharing.revoked(link.name)),
  });
  return (
    <ConfirmButton
      label={settingsText.sharing.revoke}
      size="compact-sm"
      question={settingsText.sharing.revokeQuestion(link.name)}
      consequence={settingsText.sharing.revokeConsequence}
      confirm={settingsText.sharing.revoke}
      onConfirm={() => revoke.mutateAsync({ params: { site, link: link.id } })}
      of={revoke}
    />
  );
}

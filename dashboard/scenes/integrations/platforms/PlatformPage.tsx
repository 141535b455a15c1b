// The page of one platform: its connection, events, field mapping, test and sync log.

import { Button, Select, Text } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { Plug } from "lucide-react";
import { useState } from "react";
import { Page } from "../../../common/Page.tsx";
import { useMay, useSiteId, usePathParameter } from "../../../common/api/session.ts";
import { OneTimeSecret } from "../../../common/dialogs.tsx";
import { useQueryParams } from "../../../common/lists/queryParams.ts";
import { Empty, LoadState, Loading } from "../../../common/states.tsx";
import { accountOf, useConnections, usePlatforms, type Connection, type Platform } from "../connections.tsx";
import { BackfillOffer, useBackfillOffer } from "./BackfillOffer.tsx";
import { ConnectionEditor } from "./ConnectionEditor.tsx";
import { readInput } from "./signIn.ts";
import { integrationsText } from "../../../messages/integrations.ts";

const newConnection = "new";

export default function PlatformPage() {
  const site = useSiteId();
  const id = usePathParameter("platform");
  const platforms = usePlatforms();
  const connections = useConnections(site);
  const error = platforms.error ?? connections.error;
  const platform = platforms.data?.items.find((one) => one.id === id);
  const back = { to: `/sites/${site}/integrations`, label: integrationsText.tabs.platforms };
  if (platform && connections.data)
    return (
      <ChosenConnection
        site={site}
        platform={platform}
        connections={connections.data.items.filter((one) => one.platform === id)}
        isFetching={connections.isFetching}
      />
    );
  return (
    <Page title={platform?.name ?? integrationsText.page.platform} back={back}>
      <LoadState
        of={{
          data: !platform && platforms.data,
          error,
          refetch: () => Promise.all([platforms.refetch(), connections.refetch()]),
        }}
        empty={
          <Empty icon={Plug} title={integrationsText.page.notFound}>
            {integrationsText.page.aboutNotFound}
          </Empty>
        }
      />
    </Page>
  );
}

function ChosenConnection({
  site,
  platform,
  connections,
  isFetching,
}: {
  site: string;
  platform: Platform;
  connections: readonly Connection[];
  isFetching: boolean;
}) {
  const { text } = useQueryParams();
  // The editor of a connection that was just created is another one, so the secret is kept here.
  const [secret, setSecret] = useState<string | null>(null);
  const offer = useBackfillOffer(site, platform);
  const saved = text("signIn") ? readInput(text("signIn")) : null;
  const wanted = text("connection") || (saved ? (saved.connection ?? newConnection) : "");
  const isUnknown = wanted !== "" && wanted !== newConnection && !connections.some(({ id }) => id === wanted);
  // A connection that was just created is not in the list yet.
  if (isUnknown && isFetching) return <Loading />;
  const connection = wanted === newConnection ? null : (connections.find(({ id }) => id === wanted) ?? connections[0] ?? null);
  return (
    <>
      <OneTimeSecret title={integrationsText.secret.title} secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">{integrationsText.secret.about}</Text>
      </OneTimeSecret>
      <ConnectionEditor
        // Each connection has its own draft.
        key={`${platform.id} ${connection?.id ?? newConnection}`}
        site={site}
        platform={platform}
        connection={connection}
        signIn={text("signIn")}
        initial={saved?.changes ?? {}}
        onSecret={setSecret}
        switcher={<Switcher site={site} platform={platform} connections={connections} current={connection} />}
        onConnected={offer.offer}
      />
      <BackfillOffer offer={offer} />
    </>
  );
}

/** Several accounts of one platform are several connections. */
function Switcher({
  site,
  platform,
  connections,
  current,
}: {
  site: string;
  platform: Platform;
  connections: readonly Connection[];
  current: Connection | null;
}) {
  const mayChange = useMay("admin", site);
  const navigate = useNavigate();
  const go = (connection: string) =>
    void navigate({
      to: `/sites/${site}/integrations/${platform.id}`,
      search: { connection },
    });
  if (connections.length === 0) return null;
  // A platform without accounts has one connection.
  const canAdd = mayChange && platform.settings.some(({ required }) => required);
  if (connections.length === 1 && current)
    return canAdd ? (
      <Button variant="default" onClick={() => go(newConnection)}>
        {integrationsText.page.addAnother}
      </Button>
    ) : null;
  return (
    <Select
      aria-label={integrationsText.page.connection}
      allowDeselect={false}
      w={220}
      value={current?.id ?? newConnection}
      onChange={(chosen) => chosen && go(chosen)}
      data={[
        ...connections.map((one) => ({ value: one.id, label: accountOf(platform, one) ?? one.id })),
        ...(canAdd ? [{ value: newConnection, label: integrationsText.page.anotherAccount }] : []),
      ]}
    />
  );
}

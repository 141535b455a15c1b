// Deletes the site after its owner has seen what is deleted and has typed the site's host.

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSite, type Site } from "../../../common/api/session.ts";

import { notify } from "../../../common/notices.tsx";
import { LoadError, Loading, RequestError } from "../../../common/states.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { commonText } from "../../../messages/common.ts";
import { listText } from "../../../messages/plural.ts";

export function DeleteSite() {
  const site = useSite();
  const isOwner = useMay("owner", site?.id ?? null);
  const [isOpen, { open, close }] = useDisclosure();
  if (!site || !isOwner) return null;
  return (
    <Card title={configurationText.delete.title} about={configurationText.delete.about}>
      <Button variant="default" color="red" onClick={open}>
        {configurationText.delete.button}
      </Button>
      <Modal opened={isOpen} onClose={close} title={configurationText.delete.question(site.name)}>
        <Form site={site} onClose={close} />
      </Modal>
    </Card>
  );
}

function Form({ site, onClose }: { site: Site; onClose: () => void }) {
  const navigate = useNavigate();
  const host = site.hosts[0] ?? site.id;
  const [typed, setTyped] = useState("");
  const params = { site: site.id };
  const contents = useApi("GET /sites/:site/contents", { params });
  const remove = useSend("DELETE /sites/:site", {
    onDone: () => {
      notify(configurationText.delete.deleted(site.name));
      void navigate({ to: "/sites" });
    },
  });
  if (contents.error) return <LoadError error={contents.error} />;
  if (!contents.data) return <Loading rows={3} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate({ params, query: { confirm: typed.trim() } });
      }}
    >
      <Stack>
        <Text size="sm">{configurationText.delete.consequence(describeContents(contents.data))}</Text>
        <TextInput
          label={configurationText.delete.confirm(host)}
          value={typed}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          data-autofocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <RequestError error={remove.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" color="red" loading={remove.isPending} disabled={typed.trim() !== host}>
            {configurationText.delete.button}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function describeContents(contents: Answer<"GET /sites/:site/contents">): string {
  const { hosts, keys, connections, webhooks, events, identities, visitors } = configurationText.delete;
  return listText([
    hosts(contents.hosts),
    keys(contents.keys),
    connections(contents.connections),
    webhooks(contents.webhooks),
    events(contents.events),
    identities(contents.identities),
    visitors(contents.visitors),
  ]);
}

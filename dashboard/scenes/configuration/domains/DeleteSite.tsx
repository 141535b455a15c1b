// Deletes the site after its owner has seen what is deleted and has typed the site's host.

import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useApi, useSend } from "../../../common/api/query.ts";
import { useMay, useSite, type Site } from "../../../common/api/session.ts";
import { counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadError, Loading, RequestError } from "../../../common/states.tsx";

export function DeleteSite() {
  const site = useSite();
  const isOwner = useMay("owner", site?.id ?? null);
  const [isOpen, { open, close }] = useDisclosure();
  if (!site || !isOwner) return null;
  return (
    <Card title="Delete this site" about="Deletes the site with its keys, connections and all its data.">
      <Button variant="default" color="red" onClick={open}>
        Delete site
      </Button>
      <Modal opened={isOpen} onClose={close} title={`Delete ${site.name}?`}>
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
      notify(`${site.name} deleted.`);
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
        <Text size="sm">
          This deletes {contentsText(contents.data)}. Its keys stop working within two seconds, and waiting
          deliveries are not sent. It cannot be undone.
        </Text>
        <TextInput
          label={`Type ${host} to confirm`}
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
            Cancel
          </Button>
          <Button type="submit" color="red" loading={remove.isPending} disabled={typed.trim() !== host}>
            Delete site
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function contentsText(contents: Answer<"GET /sites/:site/contents">): string {
  const texts = [
    counted(contents.hosts, "host"),
    counted(contents.keys, "key"),
    counted(contents.connections, "connection"),
    counted(contents.webhooks, "webhook"),
    counted(contents.events, "event"),
    counted(contents.identities, "identity record"),
    counted(contents.visitors, "visitor"),
  ];
  return `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}

import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { useSend } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";
import { sitesText } from "../../messages/sites.ts";
import { commonText } from "../../messages/common.ts";

export function AddSite() {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Plus size={16} />} onClick={open}>
        {sitesText.add.title}
      </Button>
      <Modal opened={isOpen} onClose={close} title={sitesText.add.title}>
        <Form onClose={close} />
      </Modal>
    </>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [host, setHost] = useState("");
  const add = useSend("POST /sites", {
    onDone: (site) => {
      notify(sitesText.add.added(site.name));
      onClose();
      void navigate({ to: `/sites/${site.id}/overview` });
    },
  });
  const isAboutHost = add.error?.field === "host";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ body: { host: host.trim() } });
      }}
    >
      <Stack>
        <TextInput
          label={sitesText.add.domain}
          description={sitesText.add.about}
          placeholder="shop.example.com"
          value={host}
          onChange={({ currentTarget }) => setHost(currentTarget.value)}
          error={isAboutHost ? add.error?.message : undefined}
          required
          data-autofocus
          autoComplete="off"
          autoCapitalize={commonText.none}
          spellCheck={false}
        />
        <RequestError error={isAboutHost ? null : add.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {commonText.cancel}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {sitesText.add.submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

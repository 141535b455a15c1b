import { Button, Group, Modal, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { notify } from "../../common/notices.tsx";
import { useSend } from "../../common/api/query.ts";
import { RequestError } from "../../common/states.tsx";

export function AddSite() {
  const [isOpen, { open, close }] = useDisclosure();
  return (
    <>
      <Button leftSection={<Plus size={16} />} onClick={open}>
        Add a site
      </Button>
      <Modal opened={isOpen} onClose={close} title="Add a site">
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
      notify(`${site.name} added`);
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
          label="Domain"
          description="The domain where people convert. You can add more later."
          placeholder="shop.example.com"
          value={host}
          onChange={({ currentTarget }) => setHost(currentTarget.value)}
          error={isAboutHost ? add.error?.message : undefined}
          required
          data-autofocus
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <RequestError error={isAboutHost ? null : add.error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending}>
            Add
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

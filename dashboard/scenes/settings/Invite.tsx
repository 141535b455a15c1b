import { Button, Group, Modal, Select, Stack, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { UserPlus } from "lucide-react";
import { useState } from "react";
import { told } from "../../common/notices.tsx";
import { faultAt, faultElse } from "../../common/fields.ts";
import { useSend } from "../../common/query.ts";
import { useSession, type Role } from "../../common/session.tsx";
import { Refused } from "../../common/states.tsx";
import { LinkOnce } from "./LinkOnce.tsx";
import { placeOf, useOwnedPlaces } from "./places.ts";
import { allRoles, roleNames, roleSentences } from "./roles.ts";

export function Invite() {
  const [isOpen, { open, close }] = useDisclosure();
  const [link, setLink] = useState<string | null>(null);
  return (
    <>
      <Button leftSection={<UserPlus size={16} />} onClick={open}>
        Invite
      </Button>
      <Modal opened={isOpen} onClose={close} title="Invite somebody">
        <Form
          onClose={close}
          onMade={(made) => {
            close();
            setLink(made);
          }}
        />
      </Modal>
      <LinkOnce
        title="Invitation link"
        link={link}
        about="Pass it on to whom you invited. It works once, for seven days."
        onClose={() => setLink(null)}
      />
    </>
  );
}

function Form({ onClose, onMade }: { onClose: () => void; onMade: (link: string | null) => void }) {
  const places = useOwnedPlaces();
  const canMail = useSession().data?.installation.mail ?? false;
  const [email, setEmail] = useState("");
  const [place, setPlace] = useState(places[0]?.value ?? "");
  const [role, setRole] = useState<Role>("viewer");
  const { mutate, error, isPending } = useSend("POST /members/invitations", {
    onDone: ({ link }) => {
      if (link === null) told(`The invitation was sent to ${email}.`);
      onMade(link);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ body: { email, site: placeOf(place), role } });
      }}
    >
      <Stack>
        <TextInput
          label="Email"
          description={
            canMail
              ? "The invitation goes there. It is good for seven days."
              : "No mail can be sent from here: you get a link to pass on."
          }
          type="email"
          required
          data-autofocus
          autoComplete="off"
          maxLength={320}
          value={email}
          error={faultAt(error, "email")}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <Select
          label="To"
          data={places}
          allowDeselect={false}
          value={place}
          error={faultAt(error, "site")}
          onChange={(value) => value !== null && setPlace(value)}
        />
        <Select
          label="Role"
          description={roleSentences[role]}
          data={allRoles.map((value) => ({ value: value as string, label: roleNames[value] }))}
          allowDeselect={false}
          value={role}
          error={faultAt(error, "role")}
          onChange={(value) => value !== null && setRole(value as Role)}
        />
        <Refused error={faultElse(error, "email", "site", "role")} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isPending}>
            {canMail ? "Send invitation" : "Make invitation link"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

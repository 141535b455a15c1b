// Rotates the secret that signs the requests of a connection, and shows the new one once.

import { Group, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton, OneTimeSecret } from "../../../common/dialogs.tsx";

export function RotateSecret({ site, connection }: { site: string; connection: string }) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useSend("POST /sites/:site/connections/:connection/rotate", {
    onDone: (rotated) => setSecret(rotated.secret),
  });
  return (
    <Group gap="xs" mt={-8}>
      <Text size="xs" c="dimmed">
        Saved. Never shown again.
      </Text>
      <ConfirmButton
        label="Rotate secret"
        question="Rotate the signing secret?"
        consequence="The new secret is shown once and used immediately. For 24 hours requests are signed with the old one too, so that your endpoint can switch. A second rotation within that time ends the oldest secret."
        confirm="Rotate secret"
        danger={false}
        variant="subtle"
        size="compact-xs"
        icon={<KeyRound size={13} aria-hidden />}
        onConfirm={() => rotate.mutateAsync({ params: { site, connection } })}
        isBusy={rotate.isPending}
        error={rotate.error}
      />
      <OneTimeSecret title="New signing secret" secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">
          Give it to your endpoint within 24 hours; until then the old secret verifies too.
        </Text>
      </OneTimeSecret>
    </Group>
  );
}

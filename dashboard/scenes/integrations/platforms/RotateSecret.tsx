// Rotates the secret that signs the requests of a connection, and shows the new one once.

import { Group, Text } from "@mantine/core";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { useSend } from "../../../common/api/query.ts";
import { ConfirmButton, OneTimeSecret } from "../../../common/dialogs.tsx";
import { integrationsText } from "../../../messages/integrations.ts";

export function RotateSecret({ site, connection }: { site: string; connection: string }) {
  const [secret, setSecret] = useState<string | null>(null);
  const rotate = useSend("POST /sites/:site/connections/:connection/rotate", {
    onDone: (rotated) => setSecret(rotated.secret),
  });
  return (
    <Group gap="xs" mt={-8}>
      <Text size="xs" c="dimmed">
        {integrationsText.settings.neverShown}
      </Text>
      <ConfirmButton
        label={integrationsText.secret.rotate}
        question={integrationsText.secret.question}
        consequence={integrationsText.secret.consequence}
        confirm={integrationsText.secret.rotate}
        danger={false}
        variant="subtle"
        size="compact-xs"
        icon={<KeyRound size={13} aria-hidden />}
        onConfirm={() => rotate.mutateAsync({ params: { site, connection } })}
        of={rotate}
      />
      <OneTimeSecret title={integrationsText.secret.newTitle} secret={secret} onClose={() => setSecret(null)}>
        <Text size="sm">{integrationsText.secret.switchWithin}</Text>
      </OneTimeSecret>
    </Group>
  );
}

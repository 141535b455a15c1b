// The notice of a page that came without HTTPS from another machine, and what to do.

import { Alert, Anchor, Group, Stack, Text } from "@mantine/core";
import { useSessionStorage } from "@mantine/hooks";
import { ShieldAlert } from "lucide-react";
import { DocsLink } from "../../common/links.tsx";
import { Code } from "../../common/values.tsx";
import { guardText } from "../../messages/guard.ts";

export default function InsecureNotice() {
  const [isHidden, setHidden] = useSessionStorage({ key: "cleancast-insecure-hidden", defaultValue: false });
  if (isHidden) return null;
  const port = location.port || "80";
  // A port below 1024 needs an administrator.
  const local = Number(port) < 1024 ? "8080" : port;
  return (
    <Alert
      variant="light"
      color="yellow"
      icon={<ShieldAlert size={18} />}
      title={guardText.insecure.title}
      mb="lg"
      maw={1280}
      mx="auto"
      w="100%"
    >
      <Stack gap="xs">
        <Text size="sm">{guardText.insecure.about}</Text>
        <Code label={guardText.insecure.command}>{`ssh -N -L ${local}:127.0.0.1:${port} ${location.hostname}`}</Code>
        <Text size="sm">{guardText.insecure.afterwards(`http://localhost:${local}/dashboard/`)}</Text>
        <Group gap="md">
          <DocsLink page="how-to/certificates">{guardText.insecure.docs}</DocsLink>
          <Anchor component="button" type="button" size="sm" onClick={() => setHidden(true)}>
            {guardText.insecure.hide}
          </Anchor>
        </Group>
      </Stack>
    </Alert>
  );
}

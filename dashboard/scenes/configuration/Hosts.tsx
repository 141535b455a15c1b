// The domains that belong to the site.

import { Button, Group, List, Stack, Text, TextInput } from "@mantine/core";
import { Globe } from "lucide-react";
import { useState } from "react";
import { told } from "../../common/notices.tsx";
import { faultAt, faultElse } from "../../common/fields.ts";
import { Card } from "../../common/Page.tsx";
import { useSend } from "../../common/query.ts";
import { useMay, useSite, useSiteId } from "../../common/session.tsx";
import { Loading, Refused } from "../../common/states.tsx";
import { CopyButton } from "../../common/values.tsx";

export function Hosts() {
  const id = useSiteId();
  const site = useSite();
  const mayChange = useMay("admin", id);
  const [host, setHost] = useState("");
  const { mutate, error, isPending } = useSend("POST /sites/:site/hosts", {
    onDone: () => {
      told(`${host.trim()} is added.`);
      setHost("");
    },
  });
  return (
    <Card
      title="Domains"
      about="The hosts where people convert. The tag and the inbound webhook work on each of them, and they share everything else."
    >
      {!site && <Loading rows={2} />}
      {site && (
        <Stack gap="md">
          <List
            spacing="xs"
            size="sm"
            center
            icon={<Globe size={16} className="cc-quiet" aria-hidden />}
            aria-label="Domains of this site"
          >
            {site.hosts.map((one) => (
              <List.Item key={one}>
                <Group gap={4} component="span" display="inline-flex">
                  {one} <CopyButton value={one} label={`Copy ${one}`} />
                </Group>
              </List.Item>
            ))}
          </List>
          {mayChange && (
            <form
              onSubmit={(event) => {
                event.preventDefault();
                mutate({ params: { site: id }, body: { host: host.trim() } });
              }}
            >
              <Group align="flex-end" gap="xs">
                <TextInput
                  label="Add a domain"
                  placeholder="www.example.com"
                  required
                  flex="1 1 200px"
                  maw={400}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                  value={host}
                  error={faultAt(error, "host")}
                  onChange={(event) => setHost(event.currentTarget.value)}
                />
                <Button type="submit" variant="default" loading={isPending}>
                  Add
                </Button>
              </Group>
            </form>
          )}
          <Refused error={faultElse(error, "host")} />
          {!mayChange && (
            <Text size="sm" c="dimmed">
              Admins of this site can add more.
            </Text>
          )}
        </Stack>
      )}
    </Card>
  );
}

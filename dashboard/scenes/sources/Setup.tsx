// Sets a source up: the sender's own steps, the address and the secret next to them, and whether requests arrive.

import { Alert, Box, Button, Code, Grid, Group, List, Loader, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { CircleCheck, KeyRound, Pause, TriangleAlert } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Form } from "../../common/Form.tsx";
import { Card } from "../../common/Page.tsx";
import { useApi, useSend } from "../../common/api/query.ts";
import { fieldError, otherError } from "../../common/forms/faults.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { countText } from "../../common/format/numbers.ts";
import { ExternalLink, TextLink } from "../../common/links.tsx";
import { notify } from "../../common/notices.tsx";
import { LoadState, RequestError } from "../../common/states.tsx";
import { CopyButton, Id, State, Time } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { sourcesText } from "../../messages/sources.ts";
import { KindField } from "./KindField.tsx";
import type { Kind, KindSetting } from "./kinds.ts";
import { isWaiting, Marked, newSecretsOf, reasonText, type Source } from "./parts.tsx";

type Props = { site: string; source: Source; kind: Kind };

export function Setup(props: Props) {
  return (
    <Stack gap="lg">
      <Status {...props} />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          <Steps {...props} />
        </Grid.Col>
        {/* On a phone, what is to be copied comes before the steps. */}
        <Grid.Col span={{ base: 12, md: 6 }} order={{ base: -1, md: 2 }}>
          <Box pos={{ base: "static", md: "sticky" }} top={24} mah={{ md: "calc(100vh - 48px)" }} style={{ overflowY: "auto" }}>
            <Credentials {...props} />
          </Box>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

function Steps({ site, source, kind }: Props) {
  const { data } = useShown(site, source);
  return (
    <Card title={kind.docs ? sourcesText.setup.atSender(kind.name) : sourcesText.setup.atAnySender}>
      <Stack gap="md">
        <List type="ordered" size="sm" spacing="sm" pr="md">
          {kind.steps.map((step) => (
            <List.Item key={step}>
              <Step text={step} address={data?.address ?? null} />
            </List.Item>
          ))}
        </List>
        {kind.docs && <ExternalLink href={kind.docs}>{sourcesText.setup.documentation(kind.name)}</ExternalLink>}
        <Notes title={sourcesText.setup.notes} lines={kind.notes} />
        <Notes title={sourcesText.setup.retries} lines={kind.retries} />
      </Stack>
    </Card>
  );
}

const useShown = (site: string, source: Source) =>
  useApi("GET /sites/:site/sources/:source", { params: { site, source: source.id } });

/** ADDRESS in a step is the address that is shown next to it. */
function Step({ text, address }: { text: string; address: string | null }) {
  const parts = text.split(/`?ADDRESS`?/);
  return (
    <>
      {parts.map((part, i) => (
        <span key={part}>
          {i > 0 &&
            (address === null ? (
              <strong>{sourcesText.setup.address}</strong>
            ) : (
              <Id value={address} label={commonText.copyThing(sourcesText.setup.address)} />
            ))}
          <Marked text={part} />
        </span>
      ))}
    </>
  );
}

function Notes({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <div>
      <Text size="xs" fw={500} c="dimmed" mb={4}>
        {title}
      </Text>
      <Stack gap={4}>
        {lines.map((line) => (
          <Text key={line} size="sm" c="dimmed">
            <Marked text={line} />
          </Text>
        ))}
      </Stack>
    </div>
  );
}

function Credentials({ site, source, kind }: Props) {
  const shown = useShown(site, source);
  const made = newSecretsOf(source.id);
  // The list of requests says where a source needs a key for look-ups.
  const secrets = kind.settings.filter(({ secret, forLookUps }) => secret && !forLookUps);
  const path = `/sites/${site}/sources/${source.id}`;
  return (
    <Card title={sourcesText.setup.here} about={sourcesText.setup.aboutHere}>
      <Stack gap="lg">
        {shown.data ? (
          <div>
            <Text size="sm" fw={500} mb={4}>
              {sourcesText.setup.address}
            </Text>
            {shown.data.address === null ? (
              <Text size="sm" c="dimmed">
                {sourcesText.setup.lost}
              </Text>
            ) : (
              <Copied value={shown.data.address} label={sourcesText.setup.address} />
            )}
            {source.oldAddressUntil !== null && (
              <Text size="xs" c="dimmed" mt={4}>
                <RichText text={sourcesText.setup.oldAddress} tags={{ time: () => <Time at={source.oldAddressUntil} /> }} />
              </Text>
            )}
          </div>
        ) : (
          <LoadState of={shown} rows={1} />
        )}
        {secrets.map((setting) => {
          const fresh = made[setting.name];
          if (fresh !== undefined)
            return (
              <div key={setting.name}>
                <Text size="sm" fw={500} mb={4}>
                  {setting.label}
                </Text>
                <Copied value={fresh} label={setting.label} />
                <Text size="xs" c="dimmed" mt={4}>
                  {sourcesText.setup.onlyNow}
                </Text>
              </div>
            );
          if (source.missing.includes(setting.name))
            return <SecretForm key={setting.name} site={site} source={source} setting={setting} />;
          if (source.settings[setting.name] === undefined) return null;
          return (
            <div key={setting.name}>
              <Group gap="xs">
                <Text size="sm" fw={500}>
                  {setting.label}
                </Text>
                <State of="on" word={sourcesText.setup.configured} />
              </Group>
              <Text size="xs" c="dimmed" mt={4}>
                <RichText
                  text={sourcesText.setup.replaceInSettings}
                  tags={{
                    link: (content) => (
                      <TextLink to={path} search={{ tab: "settings" }} size="xs">
                        {content}
                      </TextLink>
                    ),
                  }}
                />
              </Text>
            </div>
          );
        })}
        {!kind.signs && (
          <Text size="sm" c="dimmed">
            {sourcesText.setup.unsigned}
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function Copied({ value, label }: { value: string; label: string }) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Code
        block
        style={{ flex: 1, minWidth: 0, overflowWrap: "anywhere", whiteSpace: "pre-wrap" }}
        aria-label={label}
        data-secret
      >
        {value}
      </Code>
      <CopyButton value={value} label={commonText.copyThing(label)} />
    </Group>
  );
}

/** The secret that the sender shows once it knows the address. */
function SecretForm({ site, source, setting }: { site: string; source: Source; setting: KindSetting }) {
  const [value, setValue] = useState("");
  const save = useSend("PATCH /sites/:site/sources/:source", { onDone: () => notify(sourcesText.setup.secretSaved) });
  const { name } = setting;
  return (
    <Form noValidate onSubmit={() => save.mutate({ params: { site, source: source.id }, body: { settings: { [name]: value } } })}>
      <Stack gap="sm">
        <KindField
          setting={{ ...setting, label: sourcesText.setup.pasteSecret(setting.label) }}
          value={value}
          error={fieldError(save.error, name)}
          onChange={setValue}
        />
        <RequestError error={otherError(save.error, name)} />
        <Group>
          <Button type="submit" loading={save.isPending} disabled={value.trim() === ""}>
            {sourcesText.setup.saveSecret}
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}

/** Says what is left to do, or that requests arrive. */
function Status({ site, source, kind }: Props) {
  const wrong = source.last24h.refused ?? 0;
  const status = statusOf(source, kind);
  return (
    <Stack gap="sm" aria-live="polite">
      <section className="cc-card">
        <Group p="md" gap="md" wrap="nowrap" align="flex-start">
          <ThemeIcon size={40} radius="xl" variant="light" color={status.color}>
            {status.icon}
          </ThemeIcon>
          <Stack gap={4} style={{ minWidth: 0 }}>
            <Title order={2}>{status.title}</Title>
            <Text size="sm" component="div">
              {status.text}
            </Text>
            {status.isLive && <LastRequest site={site} source={source} />}
          </Stack>
        </Group>
      </section>
      {wrong > 0 && (
        <Alert variant="light" color="red" icon={<TriangleAlert size={18} />}>
          {sourcesText.waiting.wrong(countText(wrong), wrong)}
        </Alert>
      )}
    </Stack>
  );
}

type Status = { title: string; text: ReactNode; color: string; icon: ReactNode; isLive?: true };

function statusOf(source: Source, kind: Kind): Status {
  if (!source.isReadable)
    return {
      title: sourcesText.waiting.brokenTitle,
      text: sourcesText.waiting.broken,
      color: "red",
      icon: <TriangleAlert size={20} aria-hidden />,
    };
  if (source.state === "paused")
    return {
      title: sourcesText.waiting.pausedTitle,
      text: sourcesText.waiting.paused,
      color: "yellow",
      icon: <Pause size={20} aria-hidden />,
    };
  if (source.missing.length > 0)
    return {
      title: sourcesText.waiting.secretTitle,
      text: sourcesText.waiting.aboutSecret(kind.name),
      color: "accent",
      icon: <KeyRound size={20} aria-hidden />,
    };
  if (isWaiting(source))
    return {
      title: sourcesText.waiting.title,
      text: sourcesText.waiting.about(kind.name),
      color: "accent",
      icon: <Loader size={20} type="dots" aria-hidden />,
    };
  return {
    title: sourcesText.waiting.liveTitle,
    text: <RichText text={sourcesText.waiting.live} tags={{ time: () => <Time at={source.lastRequestAt} /> }} />,
    color: "green",
    icon: <CircleCheck size={20} aria-hidden />,
    isLive: true,
  };
}

function LastRequest({ site, source }: { site: string; source: Source }) {
  const { data } = useApi(
    "GET /sites/:site/sources/:source/requests",
    { params: { site, source: source.id }, query: { limit: 1 } },
    { everyMs: 2000 },
  );
  const [last] = data?.items ?? [];
  if (!last) return null;
  return (
    <Group gap="sm">
      <State of={last.outcome} />
      {last.type && <span className="cc-mono">{last.type}</span>}
      {last.reason !== null && <Text size="sm">{reasonText(last.reason)}</Text>}
      {last.eventId === null ? (
        <TextLink to={`/sites/${site}/sources/${source.id}`} search={{ tab: "requests" }}>
          {sourcesText.waiting.toRequests}
        </TextLink>
      ) : (
        <TextLink to={`/sites/${site}/events/${last.eventId}`}>{sourcesText.waiting.toEvent}</TextLink>
      )}
    </Group>
  );
}

// Deletes the site after its owner has seen what is deleted and has typed the site's host.

import { Text, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../../common/FormDialog.tsx";
import { useNavigate } from "@tanstack/react-router";
import { Card } from "../../../common/Page.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { send, useApi } from "../../../common/api/query.ts";
import { useMay, useSite, type Site } from "../../../common/api/session.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { notify } from "../../../common/notices.tsx";
import { LoadState } from "../../../common/states.tsx";
import { configurationText } from "../../../messages/configuration.ts";
import { listText } from "../../../messages/catalogue/plural.ts";

export function DeleteSite() {
  const site = useSite();
  const isOwner = useMay("owner", site?.id ?? null);
  if (!site || !isOwner) return null;
  return (
    <Card title={configurationText.delete.title} about={configurationText.delete.about}>
      <FormButton
        variant="light"
        color="red"
        label={configurationText.delete.button}
        title={configurationText.delete.question(site.name)}
      >
        {(close) => <Form site={site} onClose={close} />}
      </FormButton>
    </Card>
  );
}

function Form({ site, onClose }: { site: Site; onClose: () => void }) {
  const navigate = useNavigate();
  const host = site.hosts[0] ?? site.id;
  const params = { site: site.id };
  const contents = useApi("GET /sites/:site/contents", { params });
  const form = useForm({
    values: { typed: "" },
    save: ({ typed }) => send("DELETE /sites/:site", { params, query: { confirm: typed.trim() } }),
    onDone: () => {
      notify(configurationText.delete.deleted(site.name));
      void navigate({ to: "/sites" });
    },
  });
  if (contents.error || !contents.data) return <LoadState of={contents} rows={3} />;
  return (
    <DialogForm
      form={form}
      submit={configurationText.delete.button}
      onClose={onClose}
      danger
      disabled={form.values.typed.trim() !== host}
    >
      <Text size="sm">{configurationText.delete.consequence(describeContents(contents.data))}</Text>
      <TextInput
        {...form.text("typed")}
        label={configurationText.delete.confirm(host)}
        data-autofocus
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </DialogForm>
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

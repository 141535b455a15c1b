// The list of orders: how many there are, an upload, and the address from which it is fetched every day.

import { Alert, Button, FileButton, Group, List, Progress, Stack, Text, TextInput } from "@mantine/core";
import { Form } from "../../common/Form.tsx";
import { CircleCheck, Info, Upload } from "lucide-react";
import { useState } from "react";
import { Card } from "../../common/Page.tsx";
import { ApiError, type Answer } from "../../common/api/api.ts";
import { queryClient, useSend } from "../../common/api/query.ts";
import { useSite } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { countText } from "../../common/format/numbers.ts";
import { dayText } from "../../common/format/times.ts";
import { DocsLink } from "../../common/links.tsx";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { reconciliationText } from "../../messages/reconciliation.ts";
import { commonText } from "../../messages/common.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { serverText } from "../../messages/server.ts";
import { uploadFile, type Uploaded } from "./uploadFile.ts";

export type OrderList = Answer<"GET /sites/:site/orders">;

export function Orders({ site, list, mayChange }: { site: string; list: OrderList; mayChange: boolean }) {
  const zone = useSite()?.timeZone;
  return (
    <Card title={reconciliationText.list.title} about={aboutList(list, zone)}>
      <Stack gap="lg">
        {mayChange && <UploadList site={site} />}
        <Feed site={site} feed={list.feed} mayChange={mayChange} />
      </Stack>
    </Card>
  );
}

function aboutList({ orders, isAtLeast, first, last }: OrderList, zone: string | undefined): string {
  const texts = reconciliationText.list;
  if (first === null || last === null) return texts.empty;
  const days = [dayText(first, zone), dayText(last, zone)] as const;
  return isAtLeast ? texts.aboutMany(countText(orders), ...days) : texts.about(orders, ...days);
}

function UploadList({ site }: { site: string }) {
  const [share, setShare] = useState<number | null>(null);
  const [result, setResult] = useState<Uploaded | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const upload = async (file: File | null) => {
    if (!file) return;
    setShare(0);
    setResult(null);
    setError(null);
    try {
      setResult(await uploadFile(site, file, setShare));
      await queryClient.invalidateQueries();
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    } finally {
      setShare(null);
    }
  };
  return (
    <Stack gap="sm">
      <Group gap="sm">
        <FileButton onChange={(file) => void upload(file)} accept=".csv,.ndjson,.json,text/csv">
          {(props) => (
            <Button {...props} leftSection={<Upload size={15} aria-hidden />} variant="default" loading={share !== null}>
              {reconciliationText.list.upload}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed">
          <RichText
            text={reconciliationText.list.columns}
            tags={{ docs: (text) => <DocsLink page="how-to/reconcile">{text}</DocsLink> }}
          />
        </Text>
      </Group>
      {share !== null && <Progress value={share * 100} aria-label={reconciliationText.list.progress} />}
      <RequestError error={error} />
      <div aria-live="polite">{result && <UploadResult of={result} />}</div>
    </Stack>
  );
}

function UploadResult({ of: { written, refused, reasons } }: { of: Uploaded }) {
  const isClean = refused === 0;
  return (
    <Alert
      variant="light"
      color={isClean ? "green" : "yellow"}
      icon={isClean ? <CircleCheck size={18} /> : <Info size={18} />}
      title={[reconciliationText.list.written(written), ...(isClean ? [] : [reconciliationText.list.refused(refused)])].join(
        ", ",
      )}
    >
      {!isClean && (
        <List size="sm">
          {Object.entries(reasons).map(([reason, { count, lines }]) => (
            <List.Item key={reason}>
              {reconciliationText.list.reason(countText(count), serverText(reason))}
              {lines.length > 0 && ` ${reconciliationText.list.lines(`${lines.join(", ")}${count > lines.length ? " …" : ""}`)}`}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

function Feed({ site, feed, mayChange }: { site: string; feed: OrderList["feed"]; mayChange: boolean }) {
  const params = { site };
  const fetchNow = useSend("POST /sites/:site/order-feed/fetch", {
    onDone: () => notify(reconciliationText.feed.fetchSoon),
  });
  const remove = useSend("DELETE /sites/:site/order-feed");
  if (!feed) return mayChange ? <SetFeed site={site} /> : null;
  return (
    <Stack gap="xs">
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        <RichText
          text={reconciliationText.feed.fetched}
          tags={{
            url: () => <span className="cc-mono">{feed.url}</span>,
            time: () => <Time at={feed.fetchedAt} />,
          }}
        />
        {feed.last && `, ${reconciliationText.list.written(feed.last.written)}`}
      </Text>
      {feed.error !== null && (
        <Alert variant="light" color="red" role="alert">
          {serverText(feed.error)}
        </Alert>
      )}
      {mayChange && (
        <Group gap="xs">
          <Button variant="default" size="xs" loading={fetchNow.isPending} onClick={() => fetchNow.mutate({ params })}>
            {reconciliationText.feed.fetch}
          </Button>
          <ConfirmButton
            label={reconciliationText.feed.remove}
            size="xs"
            question={reconciliationText.feed.question}
            consequence={reconciliationText.feed.consequence}
            confirm={reconciliationText.feed.remove}
            of={remove}
            onConfirm={() => remove.mutateAsync({ params })}
          />
        </Group>
      )}
      <RequestError error={fetchNow.error} />
    </Stack>
  );
}

function SetFeed({ site }: { site: string }) {
  const [url, setUrl] = useState("");
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const set = useSend("PUT /sites/:site/order-feed", {
    onDone: () => notify(reconciliationText.feed.saved),
  });
  return (
    <Form
      onSubmit={() => {
        const header = name.trim() === "" ? null : { name, value };
        set.mutate({ params: { site }, body: { url, header } });
      }}
    >
      <Group gap="sm" align="flex-end">
        <TextInput
          label={reconciliationText.feed.label}
          placeholder="https://shop.example.com/orders.csv"
          value={url}
          onChange={({ currentTarget }) => setUrl(currentTarget.value)}
          style={{ flex: "2 1 280px" }}
        />
        <TextInput
          label={reconciliationText.feed.header}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          style={{ flex: "1 1 120px" }}
        />
        <TextInput
          label={reconciliationText.feed.headerValue}
          type="password"
          autoComplete="off"
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
          style={{ flex: "1 1 120px" }}
        />
        <Button type="submit" variant="default" loading={set.isPending} disabled={url.trim() === ""}>
          {commonText.save}
        </Button>
      </Group>
      <RequestError error={set.error} />
    </Form>
  );
}

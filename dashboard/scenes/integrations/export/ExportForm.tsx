// Sets up or changes the scheduled export of data.

import { Modal, PasswordInput, SegmentedControl, Switch, TextInput } from "@mantine/core";
import { DialogForm } from "../../../common/FormDialog.tsx";
import { send } from "../../../common/api/query.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { notify } from "../../../common/notices.tsx";
import { dataExportText } from "../../../messages/dataExport.ts";
import type { Shown } from "./DataExport.tsx";

type Props = { site: string; of: Shown; onClose: () => void };

export function ExportForm({ isOpen, ...rest }: Props & { isOpen: boolean }) {
  return (
    <Modal opened={isOpen} onClose={rest.onClose} title={dataExportText.form.title}>
      <Fields {...rest} />
    </Modal>
  );
}

function Fields({ site, of: { export: before, hasFolder }, onClose }: Props) {
  const texts = dataExportText.form;
  const form = useForm({
    values: {
      kind: before?.to === "folder" ? "folder" : "bucket",
      to: before && before.to !== "folder" ? before.to : "",
      endpoint: before?.endpoint ?? "",
      region: before?.region ?? "",
      keyId: before?.keyId ?? "",
      secret: "",
      since: "",
      format: before?.format ?? "parquet",
      people: before?.people ?? false,
    },
    save: ({ kind, to, since, format, people, ...bucket }) => {
      const given = Object.fromEntries(Object.entries(bucket).filter(([, value]) => value.trim() !== ""));
      const where = kind === "bucket" ? { to: to.trim(), ...given } : { to: "folder" };
      return send("PUT /sites/:site/data-export", {
        params: { site },
        body: { ...where, format, people, ...(since !== "" && { since }) },
      });
    },
    onDone: () => {
      notify(texts.saved);
      onClose();
    },
  });
  const { kind, format, people } = form.values;
  const field = (name: Parameters<typeof form.text>[0] & keyof typeof texts) => ({
    ...form.text(name),
    label: texts[name],
    autoComplete: "off",
  });
  return (
    <DialogForm form={form} submit={texts.save} onClose={onClose}>
      {hasFolder && (
        <SegmentedControl
          aria-label={texts.kind}
          value={kind}
          onChange={(value) => form.set("kind", value)}
          data={[
            { value: "bucket", label: texts.kinds.bucket },
            { value: "folder", label: texts.kinds.folder },
          ]}
        />
      )}
      {kind === "bucket" && (
        <>
          <TextInput {...field("to")} placeholder={texts.examples.to} required data-autofocus />
          <TextInput {...field("endpoint")} placeholder="https://s3.eu-central-1.amazonaws.com" inputMode="url" required />
          <TextInput {...field("region")} placeholder={texts.examples.region} />
          <TextInput {...field("keyId")} required />
          <PasswordInput
            {...field("secret")}
            description={before?.keyId ? texts.secretKept : undefined}
            required={!before?.keyId}
          />
        </>
      )}
      <SegmentedControl
        aria-label={texts.format}
        value={format}
        onChange={(value) => form.set("format", value === "ndjson" ? "ndjson" : "parquet")}
        data={[
          { value: "parquet", label: texts.formats.parquet },
          { value: "ndjson", label: texts.formats.ndjson },
        ]}
      />
      <TextInput {...field("since")} type="date" />
      <Switch
        label={texts.people}
        description={texts.aboutPeople}
        checked={people}
        onChange={({ currentTarget }) => form.set("people", currentTarget.checked)}
      />
    </DialogForm>
  );
}

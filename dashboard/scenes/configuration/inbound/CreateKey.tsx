import { Input, SegmentedControl, Text, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../../common/FormDialog.tsx";
import { Plus } from "lucide-react";
import { ExpiryField, expiryAt, expiryFields, noExpiry } from "../../../common/ExpiryField.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { send } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { useLinkedDialog } from "../../../common/linkedDialog.ts";
import { useForm } from "../../../common/forms/useForm.ts";
import { configurationText } from "../../../messages/configuration.ts";
import { commonText } from "../../../messages/common.ts";

export function CreateKey({ onCreated }: { onCreated: (created: Answer<"POST /sites/:site/keys">) => void }) {
  const dialog = useLinkedDialog("create");
  return (
    <FormButton
      label={configurationText.keys.createButton}
      title={configurationText.keys.createTitle}
      leftSection={<Plus size={16} />}
      state={dialog}
    >
      {(close) => <Form onClose={close} onCreated={onCreated} />}
    </FormButton>
  );
}

const newKey: { name: string; mode: "live" | "test"; expiry: typeof noExpiry } = { name: "", mode: "live", expiry: noExpiry };

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (created: Answer<"POST /sites/:site/keys">) => void }) {
  const site = useSiteId();
  const form = useForm({
    values: newKey,
    fields: expiryFields,
    save: ({ name, mode, expiry }) =>
      send("POST /sites/:site/keys", { params: { site }, body: { name, mode, expiresAt: expiryAt(expiry) } }),
    onDone: (created) => {
      onClose();
      onCreated(created);
    },
  });
  const { mode, expiry } = form.values;
  return (
    <DialogForm form={form} submit={configurationText.keys.create} onClose={onClose}>
      <TextInput
        {...form.text("name")}
        label={configurationText.keys.columns.name}
        description={configurationText.keys.aboutName}
        required
        data-autofocus
        maxLength={100}
        autoComplete="off"
      />
      <Input.Wrapper
        label={configurationText.keys.kind}
        labelElement="div"
        description={mode === "live" ? configurationText.keys.aboutLive : configurationText.keys.aboutTest}
      >
        <SegmentedControl
          fullWidth
          mt={6}
          aria-label={configurationText.keys.kind}
          value={mode}
          onChange={(value) => form.set("mode", value)}
          data={[
            { value: "live", label: commonText.list.live },
            { value: "test", label: commonText.list.test },
          ]}
        />
      </Input.Wrapper>
      <ExpiryField {...form.field("expiry")} />
      {expiry.span !== "never" && (
        <Text size="sm" c="dimmed">
          {configurationText.keys.afterExpiry}
        </Text>
      )}
    </DialogForm>
  );
}

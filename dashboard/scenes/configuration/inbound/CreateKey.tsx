import { Input, SegmentedControl, Text, TextInput } from "@mantine/core";
import { DialogForm, FormButton } from "../../../common/FormDialog.tsx";
import { Plus } from "lucide-react";
import { useState } from "react";
import { ExpiryField, expiryAt, noExpiry } from "../../../common/ExpiryField.tsx";
import type { Answer } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { useLinkedDialog } from "../../../common/linkedDialog.ts";
import { fieldError, otherError } from "../../../common/fields.ts";
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
      {(close) => (
        <Form
          onClose={close}
          onCreated={(created) => {
            close();
            onCreated(created);
          }}
        />
      )}
    </FormButton>
  );
}

function Form({ onClose, onCreated }: { onClose: () => void; onCreated: (created: Answer<"POST /sites/:site/keys">) => void }) {
  const site = useSiteId();
  const [name, setName] = useState("");
  const [mode, setMode] = useState<"live" | "test">("live");
  const [expiry, setExpiry] = useState(noExpiry);
  const { mutate, error, isPending } = useSend("POST /sites/:site/keys", { onDone: onCreated });
  const expiresAt = expiryAt(expiry);
  return (
    <DialogForm
      submit={configurationText.keys.create}
      onSubmit={() => {
        if (expiresAt !== undefined) mutate({ params: { site }, body: { name, mode, expiresAt } });
      }}
      onClose={onClose}
      isBusy={isPending}
      error={otherError(error, "name", "expires", "expiresAt")}
    >
      <TextInput
        label={configurationText.keys.columns.name}
        description={configurationText.keys.aboutName}
        required
        data-autofocus
        maxLength={100}
        autoComplete="off"
        value={name}
        error={fieldError(error, "name")}
        onChange={(event) => setName(event.currentTarget.value)}
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
          onChange={(value) => setMode(value)}
          data={[
            { value: "live", label: commonText.list.live },
            { value: "test", label: commonText.list.test },
          ]}
        />
      </Input.Wrapper>
      <ExpiryField value={expiry} onChange={setExpiry} fault={fieldError(error, "expires", "expiresAt")} />
      {expiry.span !== "never" && (
        <Text size="sm" c="dimmed">
          {configurationText.keys.afterExpiry}
        </Text>
      )}
    </DialogForm>
  );
}

// Shares a view of the site: the dialog that asks for whom and how long, and the link, which is shown once.

import { Anchor, PasswordInput, Select, TextInput } from "@mantine/core";
import { Share2 } from "lucide-react";
import { useState } from "react";
import { defaultLinkDays, linkScopes, type LinkScope } from "../../../src/kernel/scopes.ts";
import { ExpiryField, expiryAt, expiryFields } from "../../common/ExpiryField.tsx";
import { DialogForm, FormButton } from "../../common/FormDialog.tsx";
import { send } from "../../common/api/query.ts";
import { OneTimeSecret } from "../../common/dialogs.tsx";
import { useForm } from "../../common/forms/useForm.ts";
import { settingsText } from "../../messages/settings.ts";

/** `onCreated` gets the link. What shows it must outlive the button: that of an empty list goes with the first link. */
export function ShareButton({
  site,
  label,
  variant,
  onCreated,
}: {
  site: string;
  label: string;
  variant?: "default";
  onCreated: (url: string) => void;
}) {
  return (
    <FormButton
      label={label}
      title={settingsText.sharing.createTitle}
      leftSection={<Share2 size={16} />}
      {...(variant ? { variant } : {})}
    >
      {(close) => <ShareForm site={site} onClose={close} onCreated={onCreated} />}
    </FormButton>
  );
}

export function NewLink({ url, onClose }: { url: string | null; onClose: () => void }) {
  const texts = settingsText.sharing;
  return (
    <OneTimeSecret title={texts.newLink} secret={url} notice={texts.notice} onClose={onClose}>
      <Anchor href={url ?? ""} target="_blank" rel="noopener" size="sm">
        {texts.open}
      </Anchor>
    </OneTimeSecret>
  );
}

/** The button of a page that stays as it is. */
export function SharePage({ site }: { site: string }) {
  const [url, setUrl] = useState<string | null>(null);
  return (
    <>
      <ShareButton site={site} label={settingsText.sharing.share} variant="default" onCreated={setUrl} />
      <NewLink url={url} onClose={() => setUrl(null)} />
    </>
  );
}

type Values = { scope: LinkScope; name: string; expiry: ReturnType<typeof expiryOf>; password: string };

const expiryOf = (scope: LinkScope) => ({ span: String(defaultLinkDays[scope]), day: "" });

function ShareForm({ site, onClose, onCreated }: { site: string; onClose: () => void; onCreated: (url: string) => void }) {
  const values: Values = { scope: "report", name: "", expiry: expiryOf("report"), password: "" };
  const form = useForm({
    values,
    fields: { ...expiryFields },
    save: ({ scope, name, expiry, password }) => {
      const expiresAt = expiryAt(expiry) ?? undefined;
      const body = { scope, name, ...(expiresAt === undefined ? {} : { expiresAt }), ...(password && { password }) };
      return send("POST /sites/:site/shared-links", { params: { site }, body });
    },
    onDone: ({ url }) => {
      onClose();
      onCreated(url);
    },
  });
  const scope = form.field("scope");
  return (
    <DialogForm form={form} submit={settingsText.sharing.create} onClose={onClose}>
      <Select
        {...scope}
        label={settingsText.sharing.scope}
        data={linkScopes.map((value) => ({ value, label: settingsText.sharing.scopes[value] }))}
        allowDeselect={false}
        onChange={(value) => {
          const chosen = value === "wall" ? "wall" : "report";
          scope.onChange(chosen);
          form.field("expiry").onChange(expiryOf(chosen));
        }}
      />
      <TextInput
        {...form.text("name")}
        label={settingsText.sharing.name}
        description={settingsText.sharing.aboutName}
        required
        data-autofocus
        maxLength={100}
        autoComplete="off"
      />
      <ExpiryField {...form.field("expiry")} isRequired />
      <PasswordInput
        {...form.text("password")}
        label={settingsText.sharing.password}
        description={settingsText.sharing.aboutPassword}
        maxLength={200}
        autoComplete="new-password"
      />
    </DialogForm>
  );
}

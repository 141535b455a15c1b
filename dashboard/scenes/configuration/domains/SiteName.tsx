import { Button, Group, TextInput } from "@mantine/core";
import { useState } from "react";
import { notify } from "../../../common/notices.tsx";
import { fieldError, otherError } from "../../../common/fields.ts";
import { useSend } from "../../../common/api/query.ts";
import { useMay, useSite, useSiteId } from "../../../common/api/session.ts";
import { Loading, RequestError } from "../../../common/states.tsx";

/** The site's name is not a setting, so it is saved on its own. */
export function SiteName() {
  const site = useSite();
  return site ? <Form key={site.name} name={site.name} /> : <Loading rows={1} />;
}

function Form({ name }: { name: string }) {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const [text, setText] = useState(name);
  const { mutate, error, isPending } = useSend("PATCH /sites/:site", {
    onDone: () => notify("Site renamed."),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ params: { site }, body: { name: text } });
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Site name"
          required
          maxLength={100}
          flex="1 1 200px"
          maw={400}
          disabled={!mayChange}
          value={text}
          error={fieldError(error, "name")}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        {mayChange && (
          <Button
            type="submit"
            variant="default"
            loading={isPending}
            disabled={!text.trim() || text.trim() === name}
          >
            Rename
          </Button>
        )}
      </Group>
      <RequestError error={otherError(error, "name")} />
    </form>
  );
}

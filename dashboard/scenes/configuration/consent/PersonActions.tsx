import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { call, type ApiError } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";

import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import type { Person } from "./FindPerson.tsx";
import { configurationText } from "../../../messages/configuration.ts";

/** Export, recording a consent decision, and erasure. */
export function PersonActions({
  person,
  isKnown,
  onChanged,
}: {
  person: Person;
  isKnown: boolean;
  onChanged: () => Promise<unknown>;
}) {
  const params = { site: useSiteId() };
  const who = { email: person.emailSha256 };
  const download = useMutation<void, ApiError>({
    mutationFn: async () =>
      saveFile(await call("POST /sites/:site/people/export", { params, body: who }), `person-${who.email.slice(0, 8)}.json`),
  });
  const decide = useSend("POST /sites/:site/people/consent", {
    onDone: (_, { body }) =>
      notify(body.decision === "denied" ? configurationText.person.optOutDone : configurationText.person.agreeDone),
  });
  const erase = useSend("POST /sites/:site/people/erase", {
    onDone: ({ events, visitors }) =>
      notify(
        configurationText.person.erased(
          configurationText.person.erasedEvents(events),
          configurationText.person.erasedVisitors(visitors),
        ),
      ),
  });
  const record = async (decision: "granted" | "denied") => {
    await decide.mutateAsync({ params, body: { ...who, decision } });
    await onChanged();
  };
  return (
    <>
      <Group gap="xs">
        {isKnown && (
          <Button
            variant="default"
            leftSection={<Download size={16} />}
            loading={download.isPending}
            onClick={() => download.mutate()}
          >
            {configurationText.person.export}
          </Button>
        )}
        {person.consent !== "denied" && (
          <ConfirmButton
            label={configurationText.person.optOut}
            danger={false}
            question={configurationText.person.optOutQuestion}
            consequence={configurationText.person.optOutConsequence}
            confirm={configurationText.person.record}
            onConfirm={() => record("denied")}
            of={decide}
          />
        )}
        {person.consent !== "granted" && (
          <ConfirmButton
            label={configurationText.person.agree}
            danger={false}
            question={configurationText.person.agreeQuestion}
            consequence={configurationText.person.agreeConsequence}
            confirm={configurationText.person.record}
            onConfirm={() => record("granted")}
            of={decide}
          />
        )}
        {isKnown && (
          <ConfirmButton
            label={configurationText.person.erase}
            variant="light"
            question={configurationText.person.eraseQuestion}
            consequence={configurationText.person.eraseConsequence}
            confirm={configurationText.person.erase}
            onConfirm={async () => {
              await erase.mutateAsync({ params, body: who });
              await onChanged();
            }}
            of={erase}
          />
        )}
      </Group>
      <RequestError error={download.error} />
    </>
  );
}

function saveFile(content: unknown, name: string): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { call, type ApiError } from "../../../common/api/api.ts";
import { useSend } from "../../../common/api/query.ts";
import { useSiteId } from "../../../common/api/session.ts";
import { ConfirmButton } from "../../../common/dialogs.tsx";
import { counted } from "../../../common/format/format.ts";
import { notify } from "../../../common/notices.tsx";
import { RequestError } from "../../../common/states.tsx";
import type { Person } from "./FindPerson.tsx";

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
      saveFile(
        await call("POST /sites/:site/people/export", { params, body: who }),
        `person-${who.email.slice(0, 8)}.json`,
      ),
  });
  const decide = useSend("POST /sites/:site/people/consent", {
    onDone: (_, { body }) => notify(body.decision === "denied" ? "Opt-out recorded." : "Consent recorded."),
  });
  const erase = useSend("POST /sites/:site/people/erase", {
    onDone: ({ events, visitors }) =>
      notify(
        `Erased: ${counted(events, "event")} and ${counted(visitors, "visitor")} can no longer be linked to this person.`,
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
            Export as JSON
          </Button>
        )}
        {person.consent !== "denied" && (
          <ConfirmButton
            label="Record opt-out"
            danger={false}
            question="Record an opt-out?"
            consequence="From now on their conversions are sent without click ids and hashes. Stored data is kept until you erase it."
            confirm="Record"
            onConfirm={() => record("denied")}
            isBusy={decide.isPending}
            error={decide.error}
          />
        )}
        {person.consent !== "granted" && (
          <ConfirmButton
            label="Record consent"
            danger={false}
            question="Record consent?"
            consequence="Only if the person has told you so. It ends their opt-out: identifiers are used again from now on."
            confirm="Record"
            onConfirm={() => record("granted")}
            isBusy={decide.isPending}
            error={decide.error}
          />
        )}
        {isKnown && (
          <ConfirmButton
            label="Erase"
            question="Erase this person?"
            consequence="Visits, click ids and hashes of this person are removed from all events and from the log, and waiting deliveries are cancelled. Statistics are kept. An opt-out is kept, so that it still applies. This cannot be undone."
            confirm="Erase"
            onConfirm={async () => {
              await erase.mutateAsync({ params, body: who });
              await onChanged();
            }}
            isBusy={erase.isPending}
            error={erase.error}
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

import { Button, Group } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { call, type ApiError } from "../../common/api.ts";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { useSend } from "../../common/query.ts";
import { useSiteId } from "../../common/session.tsx";
import { Refused } from "../../common/states.tsx";
import type { Person } from "./PersonFound.tsx";

/** Export, a decision that the person made elsewhere, and erasing. */
export function PersonActions({
  person,
  isKnown,
  again,
}: {
  person: Person;
  isKnown: boolean;
  again: () => Promise<unknown>;
}) {
  const params = { site: useSiteId() };
  const who = { email: person.emailSha256 };
  const download = useMutation<void, ApiError>({
    mutationFn: async () =>
      save(
        await call("POST /sites/:site/people/export", { params, body: who }),
        `person-${who.email.slice(0, 8)}.json`,
      ),
  });
  const decide = useSend("POST /sites/:site/people/consent", {
    onDone: (_, { body }) =>
      told(body.decision === "denied" ? "The opt-out is entered." : "The consent is entered."),
  });
  const erase = useSend("POST /sites/:site/people/erase", {
    onDone: ({ events, visitors }) =>
      told(
        `Erased: ${count(events, "event")} and ${count(visitors, "visitor")} can no longer be tied to this person.`,
      ),
  });
  const enter = async (decision: "granted" | "denied") => {
    await decide.mutateAsync({ params, body: { ...who, decision } });
    await again();
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
          <AskButton
            label="Enter an opt-out"
            danger={false}
            question="Enter an opt-out?"
            consequence="Their conversions go out without click ids and hashes from now on. What is stored already stays until you erase it."
            confirm="Enter"
            onConfirm={() => enter("denied")}
            isBusy={decide.isPending}
            error={decide.error}
          />
        )}
        {person.consent !== "granted" && (
          <AskButton
            label="Enter a consent"
            danger={false}
            question="Enter a consent?"
            consequence="Only if the person told you so. It lifts their opt-out: identifiers are used again from now on."
            confirm="Enter"
            onConfirm={() => enter("granted")}
            isBusy={decide.isPending}
            error={decide.error}
          />
        )}
        {isKnown && (
          <AskButton
            label="Erase"
            question="Erase this person?"
            consequence="Visits, click ids and hashes of this person are removed from every event and from the log, and what still waits to be sent is stopped. Numbers in charts stay. An opt-out is kept, so that it still holds. This cannot be taken back."
            confirm="Erase"
            onConfirm={async () => {
              await erase.mutateAsync({ params, body: who });
              await again();
            }}
            isBusy={erase.isPending}
            error={erase.error}
          />
        )}
      </Group>
      <Refused error={download.error} />
    </>
  );
}

const count = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;

function save(content: unknown, name: string): void {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

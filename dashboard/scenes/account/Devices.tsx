// The devices of the user that show alerts, and a button for this one.

import { Button, Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Bell } from "lucide-react";
import { useState } from "react";
import { ApiError, type Answer } from "../../common/api/api.ts";
import { queryClient, useApi, useSend } from "../../common/api/query.ts";
import { hasPush, readThisDevice, turnOffHere, turnOnHere } from "../../common/api/thisDevice.ts";
import { Card } from "../../common/Page.tsx";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { notify } from "../../common/notices.tsx";
import { RequestError } from "../../common/states.tsx";
import { Time } from "../../common/values.tsx";
import { accountText } from "../../messages/account.ts";
import { browserName } from "./browserName.ts";

type Device = Answer<"GET /me/devices">["items"][number];

export function Devices() {
  const { data, error, refetch } = useApi("GET /me/devices", {});
  const here = useQuery({ queryKey: ["device"], queryFn: readThisDevice, enabled: hasPush() });
  const remove = useSend("DELETE /me/devices/:device", { onDone: () => notify(accountText.devices.removed) });
  const isOn = data?.items.some(({ id }) => id === here.data) ?? false;
  const others = data?.items.filter(({ id }) => id !== here.data);
  const columns: Column<Device>[] = [
    { title: accountText.devices.device, cell: ({ name }) => name },
    { title: accountText.devices.added, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      title: accountText.devices.remove,
      head: "",
      align: "right",
      cell: ({ id, name }) => (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={accountText.devices.removeOf(name)}
          loading={remove.isPending && remove.variables.params.device === id}
          onClick={() => remove.mutate({ params: { device: id } })}
        >
          {accountText.devices.remove}
        </Button>
      ),
    },
  ];
  return (
    <Card title={accountText.devices.title} about={accountText.devices.about}>
      <Stack gap="md">
        <ThisDevice isOn={isOn} publicKey={data?.publicKey} />
        {(error !== null || (others?.length ?? 0) > 0) && (
          <Rows
            label={accountText.devices.title}
            columns={columns}
            rows={others}
            keyOf={({ id }) => id}
            error={error ?? remove.error}
            onRetry={() => void refetch()}
            empty={null}
          />
        )}
      </Stack>
    </Card>
  );
}

/** Why this browser can show none; null where it can. */
function findObstacle(): string | null {
  const { insecure, unsupported, blocked } = accountText.devices;
  if (!isSecureContext) return insecure;
  if (!hasPush()) return unsupported;
  return Notification.permission === "denied" ? blocked : null;
}

function ThisDevice({ isOn, publicKey }: { isOn: boolean; publicKey: string | undefined }) {
  const [isPending, setPending] = useState(false);
  const [fault, setFault] = useState<ApiError | string | null>(null);
  const obstacle = findObstacle();
  if (obstacle !== null) return <Text size="sm">{obstacle}</Text>;

  const change = async () => {
    setPending(true);
    setFault(null);
    try {
      if (isOn) {
        await turnOffHere();
        notify(accountText.devices.turnedOff);
      } else if (await turnOnHere(publicKey ?? "", browserName(navigator.userAgent))) notify(accountText.devices.turnedOn);
      else setFault(accountText.devices.notAllowed);
    } catch (error) {
      setFault(error instanceof ApiError ? error : accountText.devices.failed(error instanceof Error ? error.message : ""));
    }
    await queryClient.invalidateQueries();
    setPending(false);
  };
  return (
    <Stack gap="xs">
      <Group gap="sm">
        {isOn && <Text size="sm">{accountText.devices.isOn}</Text>}
        <Button
          variant="default"
          leftSection={<Bell size={15} />}
          loading={isPending}
          disabled={publicKey === undefined}
          onClick={() => void change()}
        >
          {isOn ? accountText.devices.turnOff : accountText.devices.turnOn}
        </Button>
      </Group>
      {typeof fault === "string" ? (
        <Text size="sm" role="alert">
          {fault}
        </Text>
      ) : (
        <RequestError error={fault} />
      )}
    </Stack>
  );
}

// Pages in place of one that cannot be shown: there is none, or it failed, with the reason.

import { Button, Group, Text } from "@mantine/core";
import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { Compass, TriangleAlert } from "lucide-react";
import { isUpgraded } from "../../common/loadPage.ts";
import { Empty } from "../../common/states.tsx";
import { CopyButton } from "../../common/values.tsx";
import { frameText } from "../../messages/frame.ts";

export const NotFound = () => <Nowhere {...frameText.notFound} />;
export const UnknownSite = () => <Nowhere {...frameText.unknownSite} />;

function Nowhere({ title, about }: { title: string; about: string }) {
  return (
    <Empty
      icon={Compass}
      title={title}
      isPage
      action={
        <Button component={Link} to="/sites">
          {frameText.notFound.action}
        </Button>
      }
    >
      {about}
    </Empty>
  );
}

/** Replaces a page that failed. */
export function Broken({ error }: ErrorComponentProps) {
  const wasUpgraded = isUpgraded(error);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const details = [
    reason,
    location.href.replace(/[?#].*$/, ""),
    navigator.userAgent,
    error instanceof Error ? (error.stack ?? "") : "",
  ].join("\n");
  return (
    <Empty
      icon={TriangleAlert}
      title={frameText.broken.title}
      isPage
      action={<Button onClick={() => location.reload()}>{frameText.broken.action}</Button>}
    >
      {wasUpgraded ? (
        frameText.broken.upgraded
      ) : (
        <>
          {frameText.broken.about}
          <Group gap={4} justify="center" wrap="nowrap" mt="xs">
            <Text size="sm" className="cc-mono" style={{ overflowWrap: "anywhere" }}>
              {reason}
            </Text>
            <CopyButton value={details} label={frameText.broken.copy} />
          </Group>
        </>
      )}
    </Empty>
  );
}

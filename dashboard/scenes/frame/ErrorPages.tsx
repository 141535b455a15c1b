import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Compass, TriangleAlert } from "lucide-react";
import { Empty } from "../../common/states.tsx";
import { frameText } from "../../messages/frame.ts";

export const NotFound = () => <Nowhere {...frameText.notFound} />;
export const UnknownSite = () => <Nowhere {...frameText.unknownSite} />;

function Nowhere({ title, about }: { title: string; about: string }) {
  return (
    <Empty
      icon={Compass}
      title={title}
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

/** Replaces a page that failed to load. An upgrade of the relay changes the names of its chunks. */
export function Broken() {
  return (
    <Empty
      icon={TriangleAlert}
      title={frameText.broken.title}
      action={<Button onClick={() => location.reload()}>{frameText.broken.action}</Button>}
    >
      {frameText.broken.about}
    </Empty>
  );
}

import { ShieldUser } from "lucide-react";
import type { ReactNode } from "react";
import { Card } from "../../common/Page.tsx";
import { Empty } from "../../common/states.tsx";

/** Shown in place of content that only owners may see. */
export function OwnersOnly({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <Empty icon={ShieldUser} title={title}>
        {children}
      </Empty>
    </Card>
  );
}

// The program that sends a first event, in four languages.

import { Tabs } from "@mantine/core";
import { Code } from "../../../common/values.tsx";
import { commonText } from "../../../messages/common.ts";
import { inboundSamples } from "./inboundSamples.ts";

export function CodeSamples({ address, keyText }: { address: string; keyText: string }) {
  return (
    <Tabs defaultValue="curl" keepMounted={false} variant="pills">
      <Tabs.List aria-label={commonText.samples.label} mb="xs">
        {Object.keys(inboundSamples).map((name) => (
          <Tabs.Tab key={name} value={name} px="sm" py={4}>
            {name}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {Object.entries(inboundSamples).map(([name, sample]) => (
        <Tabs.Panel key={name} value={name}>
          <Code label={commonText.samples.of(name)} wraps={name === "curl"}>
            {sample(address, keyText)}
          </Code>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

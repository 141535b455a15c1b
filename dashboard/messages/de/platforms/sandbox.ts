import type { PlatformTexts } from "../../../common/platforms/platformTexts.ts";

export const sandbox: PlatformTexts = {
  description: "Im Relay eingebaut: nimmt jede Conversion an und zeigt, was eine Plattform erhalten hätte.",
};

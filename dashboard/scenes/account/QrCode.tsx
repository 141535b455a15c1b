import { encode } from "uqr";
import { accountText } from "../../messages/account.ts";

/** Is dark on white in both schemes, because apps read nothing else reliably. */
export default function QrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 2 });
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ""))).join("");
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={168}
      height={168}
      role="img"
      aria-label={accountText.twoFactor.qrCode}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

// The mark of the brand. Drawn in the page, because an image would be one more request before the first paint.

export const BrandMark = ({ size }: { size: number }) => (
  <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden>
    <rect width="32" height="32" rx="8" fill="#4353c7" />
    <circle cx="10" cy="16" r="2.4" fill="#fff" />
    <g fill="none" stroke="#fff" strokeWidth="2.6" strokeLinecap="round">
      <path d="M15 10.5a8 8 0 0 1 0 11" />
      <path d="M19.5 7a13 13 0 0 1 0 18" />
    </g>
  </svg>
);

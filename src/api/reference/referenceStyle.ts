/** The page uses one accent colour, greys and an 8-pixel grid. */
export const referenceStyle = `
:root {
  color-scheme: light dark;
  --page: #fff; --panel: #f7f8f9; --line: #e4e6ea; --text: #1c2024; --soft: #5b6470; --accent: #4353c7;
  --get: #0b6e5f; --post: #2456b8; --patch: #8a5300; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #121416; --panel: #1a1d20; --line: #2c3136; --text: #e9ecef; --soft: #9ba4ae; --accent: #a5b0f5;
    --get: #4fc3af; --post: #8ab0ff; --patch: #e0a651; --delete: #ff8a80;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;
  font: 15px/24px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums;
}
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code, pre { font: 13px/20px ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
p code, td code, li code { background: var(--panel); border-radius: 4px; padding: 1px 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 8px; top: 8px; background: var(--page); padding: 8px; z-index: 1; }
.page { display: grid; grid-template-columns: 264px minmax(0, 1fr); max-width: 1240px; margin: 0 auto; }
nav { border-right: 1px solid var(--line); padding: 32px 16px; position: sticky; top: 0; height: 100vh; overflow-y: auto; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav summary { cursor: pointer; padding: 4px 8px; border-radius: 4px; font-weight: 600; }
nav summary:hover { background: var(--panel); }
nav li a { display: flex; gap: 8px; padding: 2px 8px; border-radius: 4px; color: var(--soft); font-size: 13px; line-height: 20px; }
nav li a:hover { background: var(--panel); color: var(--text); text-decoration: none; }
nav .method { flex: none; width: 44px; padding: 0; border: 0; font-size: 10px; text-align: left; }
main { padding: 32px 40px 96px; min-width: 0; }
h1 { font-size: 28px; line-height: 36px; margin: 0 0 8px; letter-spacing: -0.01em; }
h2 { font-size: 20px; line-height: 28px; margin: 64px 0 0; padding-bottom: 8px; border-bottom: 1px solid var(--line); }
h3 { font-size: 15px; line-height: 24px; margin: 0; font-weight: 600; }
h4 { font-size: 12px; line-height: 16px; margin: 24px 0 8px; color: var(--soft); font-weight: 600; }
.soft { color: var(--soft); }
article { padding: 32px 0; border-bottom: 1px solid var(--line); }
.address { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; margin: 8px 0; }
.method {
  border: 1px solid currentColor; border-radius: 4px; padding: 0 6px; font: 600 11px/18px ui-monospace, Menlo, monospace;
}
.get { color: var(--get); } .post, .put { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; line-height: 20px; }
th { text-align: left; font-weight: 600; font-size: 12px; color: var(--soft); }
th, td { overflow-wrap: normal; padding: 6px 16px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:first-child { white-space: nowrap; }
td:last-child { color: var(--soft); min-width: 200px; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; overflow-x: auto; margin: 0; }
details > summary { cursor: pointer; color: var(--soft); font-size: 13px; }
details[open] > summary { margin-bottom: 8px; }
@media (max-width: 860px) {
  .page { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 16px; }
  main { padding: 24px 16px 64px; }
  h2 { margin-top: 40px; }
}
@media (max-width: 560px) {
  thead { position: absolute; left: -9999px; }
  tbody, tr, td { display: block; }
  tr { border-bottom: 1px solid var(--line); padding: 8px 0; }
  td, td:first-child { border: 0; padding: 0; white-space: normal; overflow-wrap: anywhere; }
}
`;

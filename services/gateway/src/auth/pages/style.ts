/** The style sheet of all pages. The colours are those of the web UI: packages/web/src/styles/tokens.css. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --text: light-dark(oklch(24% 0.02 275), oklch(93% 0.006 275));
  --soft: light-dark(oklch(46% 0.02 275), oklch(75% 0.015 275));
  --page: light-dark(oklch(96.5% 0.005 275), oklch(19% 0.012 275));
  --card: light-dark(oklch(100% 0 0), oklch(22% 0.014 275));
  --line: light-dark(oklch(90% 0.008 275), oklch(34% 0.018 275));
  --accent: light-dark(oklch(48% 0.19 275), oklch(76% 0.12 275));
  --on-accent: light-dark(oklch(99% 0 0), oklch(20% 0.03 275));
  --alert: light-dark(oklch(48% 0.19 25), oklch(78% 0.13 25));
  --alert-page: light-dark(oklch(96% 0.02 25), oklch(27% 0.05 25));
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 26rem; padding: 1.75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 0.75rem }
h1 { margin: 0 0 1rem; font-size: 1.35rem; line-height: 1.3; overflow-wrap: anywhere }
p, ul, dl { margin: 0 0 1rem }
ul { padding-left: 1.25rem }
dt { color: var(--soft); font-size: 0.875rem }
dd { margin: 0 0 0.5rem; overflow-wrap: anywhere }
a { color: var(--accent) }
.brand { margin-bottom: 0.25rem; color: var(--soft); font-size: 0.875rem; letter-spacing: 0.02em }
.soft { color: var(--soft); font-size: 0.875rem }
.alert { padding: 0.625rem 0.75rem; border-radius: 0.5rem; color: var(--alert); background: var(--alert-page) }
label { display: block; margin-bottom: 1rem; font-weight: 600 }
label span { display: block; font-weight: 400; color: var(--soft); font-size: 0.875rem }
input { display: block; width: 100%; margin-top: 0.25rem; padding: 0.55rem 0.7rem; font: inherit;
  color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 0.5rem }
button { width: 100%; padding: 0.6rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 0.5rem }
a.button { display: block; padding: 0.6rem 1rem; text-align: center; font-weight: 600; text-decoration: none;
  color: inherit; border: 1px solid var(--line); border-radius: 0.5rem }
form + p { margin-top: 0.625rem }
button.plain { color: inherit; background: none; border-color: var(--line) }
button + button, form + form { margin-top: 0.625rem }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
`.trimStart()

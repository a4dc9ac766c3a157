import { BASE_STYLE } from '../pages/base-style.ts'

/** The style of the page at `/` without a built web UI. */
export const FRONT_PAGE_STYLE = `${BASE_STYLE}
main { max-width: calc(var(--text) + 2 * var(--s-4)); padding-block-end: var(--s-7) }
h1 { display: flex; align-items: center; gap: var(--s-3); margin-bottom: var(--s-2); font-size: var(--t-5) }
h2 { margin: var(--s-6) 0 var(--s-2); font-size: var(--t-4) }
p { margin-bottom: var(--s-3) }
p:empty { display: none }
pre {
  margin-bottom: var(--s-4); padding: var(--s-2) var(--s-3); white-space: pre-wrap; line-height: var(--leading-text);
  background: var(--well); border: 1px solid var(--line); border-radius: var(--r-2);
}
pre.routes { overflow-x: auto; white-space: pre }

/* Servers: rules between rows. The output of a server stands in its last cell. */
table { width: 100%; border-collapse: collapse; font-size: var(--t-2); line-height: var(--leading-ui) }
th, td { padding: var(--s-2) var(--s-4) var(--s-2) 0; text-align: left; vertical-align: top }
th, td:nth-child(3) { color: var(--ink-2) }
th, td:not(:first-child, :last-child) { overflow-wrap: normal }
td:first-child { min-width: 6rem }
th { font-weight: var(--normal); font-size: var(--t-1) }
tr { border-bottom: 1px solid var(--line) }
td pre { margin: 0; padding: 0; background: none; border: 0; color: var(--ink-2); font-size: var(--t-1); line-height: var(--leading-ui) }
.failed td:nth-child(2) { color: var(--bad-ink) }
`

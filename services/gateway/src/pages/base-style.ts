import { TOKENS } from './tokens.ts'

/** The styles that all HTML pages of the gateway share: tokens, type, links, focus and the sign of the host. */
export const BASE_STYLE = `${TOKENS}
*, ::before, ::after { box-sizing: border-box }
* { margin: 0 }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100% }
body {
  background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: var(--normal) var(--t-3) / var(--leading-text) var(--sans); font-size-adjust: from-font;
}
main { margin-inline: auto; padding: var(--s-6) var(--s-4) }
h1, h2, th, strong { font-weight: var(--strong) }
h1, h2 { line-height: var(--leading-tight); text-wrap: balance }
code, pre { font-family: var(--mono); font-size: var(--t-2) }
a {
  color: inherit; border-radius: var(--r-1);
  text-decoration: underline 1px var(--edge); text-underline-offset: 3px;
}
a:hover { text-decoration: underline 2px var(--accent-mark) }
:focus-visible { outline: 2px solid var(--accent-ink); outline-offset: 2px }

/* The sign: a dial with a brass hand. */
.dial {
  position: relative; display: inline-block; flex: none;
  width: 1.125rem; height: 1.125rem; border: 1.5px solid var(--ink); border-radius: 50%;
}
.dial::after {
  content: ''; position: absolute; inset: 1px auto 50% calc(50% - 1px); width: 2px; border-radius: 1px;
  background: var(--accent-mark); transform-origin: 50% 100%; rotate: 40deg; forced-color-adjust: none;
}
`

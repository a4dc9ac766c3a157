import { visibleText } from '@mcp-host/contracts/visible-text'

/** The limit for a name that a stranger has chosen. */
const MAX_NAME_LENGTH = 100

/** HTML that is safe to put into a page. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | undefined | readonly Part[]

/** A template whose values are escaped and have no hidden characters; `undefined` is left out. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.map((each, index) => (index === 0 ? '' : toText(parts[index - 1])) + each)
  return new Html(text.join(''))
}

function toText(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(toText).join('')
  return visibleText(String(part))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** A text that does not change the direction of the text around it. */
export function isolated(text: string): Html {
  return html`<bdi>${text}</bdi>`
}

/** A name that a stranger has chosen. */
export function nameOf(text: string): Html {
  const characters = Array.from(text.slice(0, 2 * MAX_NAME_LENGTH + 1))
  const isCut = characters.length > MAX_NAME_LENGTH
  return isolated(isCut ? `${characters.slice(0, MAX_NAME_LENGTH).join('')}…` : text)
}

/** A time as `2026-11-29 14:03 UTC`. */
export function timeOf(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export const STYLE_PATH = '/auth/style.css'

/**
 * Headers of a page. `formTargets`: origins besides this host to which its form leads, since browsers check redirects
 * after a form, too. Without a referrer policy of `same-origin`, browsers send `Origin: null` with forms.
 */
export function pageHeaders(formTargets: readonly string[] = []): Record<string, string> {
  const targets = ["'self'", ...formTargets].join(' ')
  return {
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src 'self'; form-action ${targets}; base-uri 'none'; frame-ancestors 'none'`,
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  }
}

export const PAGE_HEADERS = pageHeaders()

/** A whole page. `heading`: for a heading with a name, which a title cannot isolate. */
export function page(title: string, content: Html, heading: Html | string = title): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · mcp-host</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <main>
          <p class="brand"><span class="dial"></span>mcp-host</p>
          <h1>${heading}</h1>
          ${content}
        </main>
      </body>
    </html> `.text
}

/** A message that screen readers announce. */
export function alert(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="alert" role="alert">${isolated(text)}</p>`
}

/** HTML that is safe to put into a page. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | undefined | readonly Part[]

/** A template whose values are escaped; `undefined` is left out. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const text = strings.map((each, index) => (index === 0 ? '' : toText(parts[index - 1])) + each)
  return new Html(text.join(''))
}

function toText(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(toText).join('')
  return String(part)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
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

/** A whole page. */
export function page(title: string, content: Html): string {
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
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `.text
}

/** A message that screen readers announce. */
export function alert(text: string | undefined): Html | undefined {
  return text === undefined ? undefined : html`<p class="alert" role="alert">${text}</p>`
}

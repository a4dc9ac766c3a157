import { htmlToMarkdownResult } from 'mdream/wasm'

import type { ConvertedPage, PageJob } from './convert-page.ts'
import { resolveLinks } from './resolve-links.ts'

/** A page with less text in its main part is mostly one whose main part was not found. */
const MIN_MAIN_LENGTH = 100

/** Parts that belong to the site or to a program, and the title, which is told on its own. */
const EXCLUDED =
  'title form fieldset input textarea select button nav footer aside dialog script style noscript template svg object embed iframe'.split(
    ' ',
  )
const CLEAN = { emptyLinks: true, emptyImages: true, emptyLinkText: true, blankLines: true }

/** The readable part of a page. mdream must be loaded. */
export function toPage({ html, url, format }: PageJob): ConvertedPage {
  // Lists of terms would stay HTML.
  const source = resolveLinks(html, url).replaceAll(/<(\/?)d[ltd]\b[^<>]*>/gi, '<$1div>')
  const convert = (plugins: object): string => {
    const { markdown }: { markdown: string } = htmlToMarkdownResult(source, {
      format,
      clean: CLEAN,
      plugins: { filter: { exclude: EXCLUDED }, ...plugins },
    })
    return markdown.trim()
  }
  const title = titleOf(source)
  const main = convert({ isolateMain: true })
  if (main.length >= MIN_MAIN_LENGTH) return { title, text: main }
  const all = convert({})
  return { title, text: all.length > main.length ? all : main }
}

/** Its text has entities, and no tags. */
function titleOf(html: string): string {
  const source = /<title\b[^<>]*>([^<]*)/i.exec(html)?.[1] ?? ''
  const { markdown }: { markdown: string } = htmlToMarkdownResult(source, { format: 'text' })
  return markdown.replaceAll(/\s+/g, ' ').trim()
}

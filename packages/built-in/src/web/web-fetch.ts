import { z } from 'zod'

import type { OperationGate } from '../operation-gate.ts'
import { decodePage } from './fetch/decode-page.ts'
import { essenceOf, pageKind } from './fetch/media-type.ts'
import type { OpenPage } from './fetch/open-page.ts'
import { readBody } from './fetch/read-body.ts'
import { convertPage } from './page/convert-page.ts'
import type { WebLimits } from './web-options.ts'

const MAX_LENGTH = 200_000
const DEFAULT_LENGTH = 20_000
const MAX_URL_LENGTH = 4_096

export const FetchArguments = z.object({
  url: z.string().max(MAX_URL_LENGTH).describe('Absolute address of the page, with https://'),
  format: z
    .enum(['markdown', 'text', 'raw'])
    .default('markdown')
    .describe(
      'markdown: the readable part of a page; text: the same without marks; raw: its source',
    ),
  maxLength: z
    .int()
    .min(1)
    .max(MAX_LENGTH)
    .default(DEFAULT_LENGTH)
    .describe('Most characters to return'),
  offset: z
    .int()
    .min(0)
    .default(0)
    .describe('First character to return: nextOffset of the call before'),
})

export const FetchedPage = z.object({
  title: z.string().describe('Empty if the page has none'),
  url: z.string().describe('The address after all redirects'),
  contentType: z.string(),
  text: z.string(),
  length: z.int().describe('Characters of the whole text'),
  nextOffset: z.int().optional().describe('The offset of the next part; absent in the last one'),
})

interface WebFetchDeps {
  readonly openPage: OpenPage
  readonly limits: WebLimits
  readonly conversions: OperationGate
}

/** Fetches a page and converts it to text. */
export async function fetchPage(
  { openPage, limits, conversions }: WebFetchDeps,
  { url: address, format, maxLength, offset }: z.infer<typeof FetchArguments>,
  signal: AbortSignal,
): Promise<z.infer<typeof FetchedPage>> {
  const { url, response } = await openPage(address, signal)
  if (!response.ok) throw new Error(`${url.href} answered with the status ${response.status}`)
  const contentType = response.headers.get('content-type') ?? ''
  const bytes = await readBody(response, limits.maxBytes)
  const kind = pageKind(contentType, bytes)
  const source = decodePage(bytes, contentType)
  const isConverted = kind === 'html' && format !== 'raw'
  const { title, text } = isConverted
    ? await conversions.run(signal, () =>
        convertPage({ html: source, url: url.href, format }, limits, signal),
      )
    : { title: '', text: source }
  const part = partOf(text, offset, maxLength)
  return { title, url: url.href, contentType: essenceOf(contentType), length: text.length, ...part }
}

interface Part {
  readonly text: string
  readonly nextOffset?: number
}

function partOf(text: string, offset: number, maxLength: number): Part {
  let end = Math.min(offset + maxLength, text.length)
  // The two halves of a character stay together.
  if (end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1))) end += 1
  const part = text.slice(offset, end)
  return end < text.length ? { text: part, nextOffset: end } : { text: part }
}

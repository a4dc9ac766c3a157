import type { WireFormat } from './wire-formats.ts'
import { wireFormats } from './wire-formats.ts'
import type { ProviderType } from '../../providers/index.ts'

/** A provider as the compliance suite needs to know it. */
export interface Subject {
  readonly name: Exclude<ProviderType, 'demo'>
  /** Behind the origin of a server that stands in for it. */
  readonly path: string
  readonly wire: WireFormat
  /** Where its key is sent; local ones get none. */
  readonly keyHeader?: string
  /** A picture in a request, as the vendor documents it. */
  readonly picture: Readonly<Record<string, unknown>>
  /** The same of a PDF, where it reads them. */
  readonly pdf?: Readonly<Record<string, unknown>>
  /** Usage as the stand-in is to be told: 7 tokens read, 3 written. */
  readonly usage: Readonly<Record<string, number>>
}

const chatUsage = { prompt_tokens: 7, completion_tokens: 3 }
const tokenUsage = { input_tokens: 7, output_tokens: 3 }
/** In base64. */
export const PICTURE = Buffer.from('not really a picture').toString('base64')
const pictureUrl = `data:image/png;base64,${PICTURE}`
const common = { path: '/v1', picture: { type: 'image_url', image_url: { url: pictureUrl } } }

export const subjects: readonly Subject[] = [
  {
    ...common,
    name: 'gemini',
    path: '/v1beta',
    wire: wireFormats.gemini,
    keyHeader: 'x-goog-api-key',
    picture: { inlineData: { mimeType: 'image/png', data: PICTURE } },
    pdf: { inlineData: { mimeType: 'application/pdf', data: PICTURE } },
    usage: { promptTokenCount: 7, candidatesTokenCount: 3 },
  },
  {
    ...common,
    name: 'anthropic',
    wire: wireFormats.anthropic,
    keyHeader: 'x-api-key',
    picture: {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: PICTURE },
    },
    pdf: {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PICTURE },
    },
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'openai',
    wire: wireFormats.responses,
    keyHeader: 'authorization',
    picture: { type: 'input_image', image_url: pictureUrl },
    pdf: { type: 'input_file', file_data: `data:application/pdf;base64,${PICTURE}` },
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'xai',
    wire: wireFormats.grok,
    keyHeader: 'authorization',
    picture: { type: 'input_image', image_url: pictureUrl },
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'openai-compatible',
    wire: wireFormats.chat,
    keyHeader: 'authorization',
    usage: chatUsage,
  },
  { ...common, name: 'ollama', wire: wireFormats.chat, usage: chatUsage },
  { ...common, name: 'lmstudio', wire: wireFormats.chat, usage: chatUsage },
]

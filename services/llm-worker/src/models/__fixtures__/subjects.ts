import type { WireFormat } from './wire-formats.ts'
import { wireFormats } from './wire-formats.ts'
import type { ProviderType } from '../../providers/index.ts'

/** A provider under test of the compliance suite. */
export interface Subject {
  readonly name: Exclude<ProviderType, 'demo'>
  /** The path of its API. */
  readonly path: string
  readonly wire: WireFormat
  /** The header of its key. Local providers have none. */
  readonly keyHeader?: string
  /** An image in a request, as the vendor documents it. */
  readonly image: Readonly<Record<string, unknown>>
  /** A PDF in a request, if the provider reads PDFs. */
  readonly pdf?: Readonly<Record<string, unknown>>
  /** A usage of 7 input and 3 output tokens, in its wire format. */
  readonly usage: Readonly<Record<string, number>>
}

const chatUsage = { prompt_tokens: 7, completion_tokens: 3 }
const tokenUsage = { input_tokens: 7, output_tokens: 3 }
/** An image in base64. */
export const IMAGE = Buffer.from('not an image').toString('base64')
const imageUrl = `data:image/png;base64,${IMAGE}`
const common = { path: '/v1', image: { type: 'image_url', image_url: { url: imageUrl } } }

export const subjects: readonly Subject[] = [
  {
    ...common,
    name: 'gemini',
    path: '/v1beta',
    wire: wireFormats.gemini,
    keyHeader: 'x-goog-api-key',
    image: { inlineData: { mimeType: 'image/png', data: IMAGE } },
    pdf: { inlineData: { mimeType: 'application/pdf', data: IMAGE } },
    usage: { promptTokenCount: 7, candidatesTokenCount: 3 },
  },
  {
    ...common,
    name: 'anthropic',
    wire: wireFormats.anthropic,
    keyHeader: 'x-api-key',
    image: {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: IMAGE },
    },
    pdf: {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: IMAGE },
    },
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'openai',
    wire: wireFormats.responses,
    keyHeader: 'authorization',
    image: { type: 'input_image', image_url: imageUrl },
    pdf: { type: 'input_file', file_data: `data:application/pdf;base64,${IMAGE}` },
    usage: tokenUsage,
  },
  {
    ...common,
    name: 'xai',
    wire: wireFormats.grok,
    keyHeader: 'authorization',
    image: { type: 'input_image', image_url: imageUrl },
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

import type { LanguageModelV4FilePart, LanguageModelV4TextPart } from '@ai-sdk/provider'
import type { Media, PromptMessage } from '@mcp-host/contracts'
import { isText } from '@mcp-host/contracts'
import { decodeText } from '@mcp-host/json'
import { pictureType } from './picture-type.ts'

/** Which files a provider gets. */
export interface FileRules {
  /** Prefixes of the MIME types that the provider reads. */
  readonly reads: readonly string[]
  /** Files that are left out, since the provider refuses them. */
  readonly hidden: ReadonlySet<Media>
}

/** Converts a file for the SDK. A file that the provider does not read becomes text with its name. */
export function toFilePart(
  file: Media,
  { reads, hidden }: FileRules,
): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const { mimeType, name, data = '' } = file
  if (isText(mimeType)) {
    const text = decodeText(Buffer.from(data, 'base64'), { fatal: false })
    return { type: 'text', text: `File ${label(file)}:\n${text}` }
  }
  if (hidden.has(file) || !canRead(file, reads)) {
    return { type: 'text', text: `[The file ${label(file)} cannot be shown to you.]` }
  }
  return {
    type: 'file',
    mediaType: mimeType,
    data: { type: 'data', data },
    ...(name === undefined ? {} : { filename: name }),
  }
}

export function canRead({ mimeType }: Media, reads: readonly string[]): boolean {
  return isText(mimeType) || reads.some((type) => mimeType.startsWith(type))
}

export function label({ name, mimeType }: Media): string {
  return name === undefined ? mimeType : `${name} (${mimeType})`
}

/** The files of a message. */
export function filesOf(message: PromptMessage | undefined): readonly Media[] {
  if (message?.role === 'user') return message.media ?? []
  return message?.role === 'tool' ? message.answers.flatMap(({ media }) => media ?? []) : []
}

/** The messages, with the types of pictures corrected by their bytes: providers compare both. */
export function withTrueTypes(messages: readonly PromptMessage[]): PromptMessage[] {
  const corrected = <T extends { media?: Media[] | undefined }>(part: T): T =>
    part.media === undefined ? part : { ...part, media: part.media.map(withTrueType) }
  return messages.map((message) => {
    if (message.role === 'user') return corrected(message)
    if (message.role === 'assistant') return message
    return { ...message, answers: message.answers.map(corrected) }
  })
}

function withTrueType(file: Media): Media {
  const { data = '', mimeType } = file
  // Some servers send the whole data URL.
  const bare = data.startsWith('data:') ? data.slice(data.indexOf(',') + 1) : data
  const type = pictureType(bare) ?? mimeType
  return type === mimeType && bare === data ? file : { ...file, mimeType: type, data: bare }
}

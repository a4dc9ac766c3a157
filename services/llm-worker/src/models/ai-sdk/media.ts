import type {
  LanguageModelV4FilePart,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
} from '@ai-sdk/provider'
import type { Media } from '@mcp-host/contracts'
import { isText } from '@mcp-host/contracts'

/** Converts a file for the SDK. A file of a type that the provider does not read becomes text with its name. */
export function toFilePart(
  file: Media,
  /** Prefixes of the MIME types that the provider reads. */
  reads: readonly string[],
): LanguageModelV4TextPart | LanguageModelV4FilePart {
  const { mimeType, name, data = '' } = file
  if (isText(mimeType)) {
    const text = Buffer.from(data, 'base64').toString()
    return { type: 'text', text: `File ${label(file)}:\n${text}` }
  }
  if (!canRead(file, reads)) return { type: 'text', text: notShown(file) }
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

/** The text in place of a file that the model cannot read. */
function notShown(file: Media): string {
  return `[The file ${label(file)} cannot be shown to you.]`
}

export function hasFiles(prompt: LanguageModelV4Prompt): boolean {
  return prompt.some(
    ({ role, content }) => role === 'user' && content.some(({ type }) => type === 'file'),
  )
}

/** A copy of the prompt in which text with their names replaces the files. */
export function withoutFiles(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.map((message) => {
    if (message.role !== 'user') return message
    const content = message.content.map((part) => {
      if (part.type !== 'file') return part
      const { mediaType: mimeType, filename: name } = part
      return { type: 'text' as const, text: notShown({ mimeType, name }) }
    })
    return { ...message, content }
  })
}

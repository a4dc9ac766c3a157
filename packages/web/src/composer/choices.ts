import type { Prompt, Resource } from '@mcp-host/client'
import { host } from '../state/host.ts'
import type { Completion } from './completion-at.ts'

/** Something of an MCP server that goes into a message. */
export type Choice = {
  readonly id: string
  readonly name: string
  readonly about: string
} & ({ readonly prompt: Prompt } | { readonly resource: Resource })

/** As many are shown at a time. */
const MAX_SHOWN = 8

/** The prompts or resources of all servers. Throws `HostError`. */
export async function loadChoices(kind: Completion['kind']): Promise<Choice[]> {
  if (kind === 'prompt') {
    return (await host.prompts()).map((prompt) => ({
      id: prompt.name,
      name: prompt.name,
      about: prompt.description ?? prompt.title ?? '',
      prompt,
    }))
  }
  return (await host.resources()).map((resource) => ({
    id: resource.uri,
    name: resource.title ?? resource.name,
    about: resource.uri,
    resource,
  }))
}

/** The choices whose name or address has the word. */
export function matching(choices: readonly Choice[], word: string): Choice[] {
  const wanted = word.toLowerCase()
  const has = (text: string): boolean => text.toLowerCase().includes(wanted)
  return choices.filter(({ id, name }) => has(id) || has(name)).slice(0, MAX_SHOWN)
}

/** A resource as a file for a message; several parts are joined. Throws `HostError`. */
export async function readAsFile({ uri, name, mimeType }: Resource): Promise<File> {
  const parts = await host.readResource(uri)
  const type = parts[0]?.mimeType ?? mimeType ?? 'text/plain'
  const bytes = parts.map(({ text, blob = '' }) => text ?? bytesOf(blob))
  return new File(bytes, name, { type })
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}

/** The texts of a prompt, as one message. */
export async function promptText(
  name: string,
  given: Readonly<Record<string, string>>,
): Promise<string> {
  const { messages } = await host.getPrompt(name, given)
  const texts = messages.map(({ content: { text, resource } }) => text ?? textOf(resource))
  return texts.filter((text) => typeof text === 'string').join('\n\n')
}

/** The text of an embedded resource. */
function textOf(resource: unknown): unknown {
  return (resource as { readonly text?: unknown } | undefined)?.text
}

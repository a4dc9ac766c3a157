import type { ResourcePart } from '@mcp-host/client'
import { objectOf } from '../state/object-of.ts'
import type { AppDomains } from './app-domains.ts'
import { readDomains } from './app-domains.ts'

const TYPE = 'text/html;profile=mcp-app'
/** Apps are single files with their libraries in them. */
const MAX_LENGTH = 8 * 1024 * 1024

/** The page of an app. */
export interface AppPage {
  readonly html: string
  readonly domains: AppDomains
}

/** The page among the parts of a resource. Throws an error that says what is wrong with it. */
export function readPage(parts: readonly ResourcePart[], ownDomain: string): AppPage {
  const part = parts.find(({ mimeType }) => mimeType?.replaceAll(/\s/g, '').toLowerCase() === TYPE)
  if (part === undefined) {
    const types = parts.map(({ mimeType = 'no type' }) => mimeType).join(', ')
    throw new Error(`its server answered ${types || 'nothing'} instead of ${TYPE}`)
  }
  const html = part.text ?? textOf(part.blob ?? '')
  if (html.trim() === '') throw new Error('its page is empty')
  if (html.length > MAX_LENGTH) {
    throw new Error(`its page has ${html.length} characters; ${MAX_LENGTH} are shown at most`)
  }
  return { html, domains: readDomains(objectOf(part._meta)['ui'], ownDomain) }
}

function textOf(base64: string): string {
  const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

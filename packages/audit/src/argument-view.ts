import { hash } from 'node:crypto'

export const ARGUMENT_MODES = ['full', 'hash', 'none'] as const

export interface ArgumentOptions {
  /** `full`: arguments and their hash; `hash`: their hash alone. */
  readonly mode: (typeof ARGUMENT_MODES)[number]
  /** Names of arguments whose values are secret, at any depth. Case, `-` and `_` do not count. */
  readonly redact: readonly string[]
}

/** What an entry has of the arguments of a call. */
export interface ArgumentView {
  /** Canonical JSON. */
  readonly json?: string
  readonly hash?: string
  readonly length?: number
}

/** Longer arguments are replaced by their hash and length. */
const MAX_LENGTH = 16 * 1024
const REDACTED = '"[redacted]"'

/** Shows arguments as the audit log keeps them: redacted, and of limited size. */
export function argumentViewer({ mode, redact }: ArgumentOptions): (args: unknown) => ArgumentView {
  const secret = new Set(redact.map(plainName))
  const isSecret = (name: string): boolean => secret.has(plainName(name))
  return (args) => {
    if (mode === 'none' || args === undefined) return {}
    const json = canonicalJson(args, isSecret)
    const view = { hash: hash('sha256', json, 'hex') }
    if (mode === 'hash') return view
    return json.length > MAX_LENGTH ? { ...view, length: json.length } : { ...view, json }
  }
}

function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase()
}

/** JSON with sorted names and without white space, as in RFC 8785. */
function canonicalJson(value: unknown, isSecret: (name: string) => boolean): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) {
    return `[${value.map((each) => canonicalJson(each, isSecret)).join(',')}]`
  }
  let fields = ''
  // Compared by UTF-16 units, as RFC 8785 says.
  for (const name of Object.keys(value).toSorted()) {
    const field: unknown = Reflect.get(value, name)
    if (field === undefined) continue
    const shown = isSecret(name) ? REDACTED : canonicalJson(field, isSecret)
    fields += `${fields === '' ? '' : ','}${JSON.stringify(name)}:${shown}`
  }
  return `{${fields}}`
}
